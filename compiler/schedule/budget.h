// Budgets: which of the ways to generate a network meets an objective and limits of arena and
// flash. Tries them for real (each is lowered and its memory planned) and keeps what it found, so
// that users see what was chosen and what the next step up or down would cost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "compiler/lower/lowering.h"
#include "compiler/options.h"

namespace etch {

// One way to generate a network, apart from which rows of it are streamed: that is in the graph.
struct Way {
  Objective code = Objective::kBalanced;
  Lowering::Halos halos = Lowering::Halos::kWritten;
};

// Lowers the graph and plans its memory; null after an error. The result is not audited yet.
using Generate =
    std::function<std::unique_ptr<Program>(const Graph& graph, const Way& way, Sink& sink)>;

// Bytes of flash that the program takes: constants, and code as estimated.
using EstimateFlash = std::function<FlashEstimate(const Program& program)>;

// The program that suits options.objective and the limits best, with Program::budget, or null and
// E-LIMIT with the least that could be reached. Without objective and limits that is the plain one
// or, on microcontrollers, the one of two that needs less memory.
std::unique_ptr<Program> compile_within(const Graph& graph, const CompileOptions& options,
                                        const IsaTraits& isa, const Generate& generate,
                                        const EstimateFlash& estimated_flash, Sink& sink);

}  // namespace etch
