// The order of the passes between the importer and lowering, in one place.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

// What becomes of DequantizeLinear -> operator -> QuantizeLinear: one integer operator where ONNX
// Runtime has one (passes/fold_qdq.h), or float arithmetic as the file has it.
enum class QdqMode { kInteger, kFloat };

// Runs every pass. Prints the graph to stderr after the one named `dump_after`. Stops when a pass
// has reported an error.
void run_passes(Graph& graph, Sink& sink, QdqMode qdq, const std::string& dump_after);

}  // namespace etch
