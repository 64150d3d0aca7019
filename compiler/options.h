// What a caller of the pipeline can ask for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/import/import.h"
#include "compiler/ir/size_range.h"
#include "compiler/kernels/conv/tuning.h"
#include "compiler/kernels/conv/unrolling.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/quantize_input.h"
#include "compiler/passes/split_rows.h"
#include "compiler/passes/states.h"
#include "templates/isa/traits.h"

namespace etch {

// With floats where the target has an FPU, or always so, or always with integers.
enum class RequantizeMode { kAuto, kFloat, kInteger };

struct CompileOptions {
  // Folder under templates/isa, "native": the best this CPU has, or kMultiTarget (targets.h).
  std::string target = "native";
  ImportOptions import;
  RequantizeMode requantize = RequantizeMode::kAuto;
  QdqMode qdq = QdqMode::kInteger;
  FloatSteps float_steps = FloatSteps::kSeparate;
  std::int64_t split_rows_above = kSplitRowsAbove;  // bytes; negative: never (split_rows.h)
  int threads = 1;                                  // that can work on the network at once
  Objective objective = Objective::kBalanced;
  std::optional<std::int64_t> arena_limit;  // bytes; the model is refused if no way is found
  std::optional<std::int64_t> flash_limit;  // the same for constants and, estimated, code
  bool strict_integer = false;  // refuse floats between quantized values; see strict_integer.h
  UnrollRequest unrolling;
  Tuning tuning;
  std::vector<QuantizeInput> quantize_inputs;    // graph inputs that are to take float32
  std::vector<SizeRange> bounds;                 // sizes that run() takes; at most one is possible
  std::vector<StateRequest> states;              // none: those of the file's metadata
  std::map<std::string, Tensor> initial_states;  // by input; of others the file's, or zeros
  std::string dump_after;  // "import", "resolve", a pass's name; empty: nothing
};

// The options as the command line spells them, in one order, without those that have their default
// and without paths: " --target avx2 --dim 'N=1'". `target` is what "native" stands for. Only
// characters that need no escape in a comment or a string of C++.
std::string canonical_options(const CompileOptions& options, std::string_view target);

}  // namespace etch
