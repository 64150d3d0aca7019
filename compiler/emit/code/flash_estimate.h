// How much flash generated code takes: constants exactly, code as estimated from what the Audit
// stage counts. Compilers differ by more than the estimate's error; docs/budgets.md has both.
#pragma once

#include <cstdint>

#include "compiler/program/step.h"

namespace etch {

// Of a program with planned memory; of one with variants, all of them.
FlashEstimate estimated_flash(const Program& program);

// Bytes of one step's function and of the tile functions inlined into it.
std::int64_t estimated_code_bytes(const Program& program, const Step& step);

}  // namespace etch
