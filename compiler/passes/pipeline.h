// The order of the passes between the importer and lowering, in one place.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/split_rows.h"

namespace etch {

// What becomes of DequantizeLinear -> operator -> QuantizeLinear: one integer operator where ONNX
// Runtime has one (passes/fold_qdq.h), also where it has none (retype_pairs.h, pool_means.h), or
// float arithmetic as the file has it.
enum class QdqMode { kInteger, kAll, kFloat };

struct PassOptions {
  QdqMode qdq = QdqMode::kInteger;
  std::int64_t split_rows_above = kSplitRowsAbove;  // bytes; negative: never (split_rows.h)
  bool sums_in_convolutions = true;   // false: steps of their own, where these have no floats
  bool ranges_in_expressions = true;  // false: steps of their own (fuse_expressions.h)
  bool attention_as_one = true;       // false: a step for each operator (fuse_attention.h)
};

// Runs every pass. Prints the graph to stderr after the one named `dump_after`. Stops when a pass
// has reported an error.
void run_passes(Graph& graph, Sink& sink, const PassOptions& options,
                const std::string& dump_after);

}  // namespace etch
