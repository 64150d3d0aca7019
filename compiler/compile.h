// The pipeline as one function: model bytes in, Program out. Reads top to bottom in compile.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/import/import.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/quantize_input.h"
#include "compiler/passes/split_rows.h"
#include "compiler/schedule/tuning.h"
#include "compiler/schedule/unrolling.h"
#include "compiler/steps/step.h"

namespace etch {

// With floats where the target has an FPU, or always so, or always with integers.
enum class RequantizeMode { kAuto, kFloat, kInteger };

struct CompileOptions {
  // Folder under templates/isa, "native": the best this CPU has, or kMultiTarget (targets.h).
  std::string target = "native";
  ImportOptions import;
  RequantizeMode requantize = RequantizeMode::kAuto;
  QdqMode qdq = QdqMode::kInteger;
  std::int64_t split_rows_above = kSplitRowsAbove;  // bytes; negative: never (split_rows.h)
  int threads = 1;                                  // that can work on the network at once
  Objective objective = Objective::kBalanced;
  std::optional<std::int64_t> arena_limit;  // bytes; the model is refused if no way is found
  std::optional<std::int64_t> flash_limit;  // bytes of constants and, estimated, code; likewise
  bool strict_integer = false;  // refuse floats between quantized values; see strict_integer.h
  UnrollRequest unrolling;
  Tuning tuning;
  std::vector<QuantizeInput> quantize_inputs;  // graph inputs that are to take float32
  std::string dump_after;                      // "import", "resolve", a pass's name; empty: nothing
};

// Null when the model is refused; the reasons are in `sink`. Throws nothing.
std::unique_ptr<Program> compile(std::string_view model, const CompileOptions& options, Sink& sink);

// Of a program with variants the one that this machine takes, else the program itself.
const Program& variant_for_this_cpu(const Program& program);

// The front half, for `etch inspect` and tests: imported, resolved, folded; not yet lowered.
std::unique_ptr<Graph> load_graph(std::string_view model, const CompileOptions& options,
                                  Sink& sink);

// The instruction set for a --target name ("native" resolved by CPUID), or null.
const IsaTraits* find_target(std::string_view name);

}  // namespace etch
