// Recurrent layers (compiler/ops/recurrent) as a product of the input for all steps and directions
// and a RecurrentLoop: MatMul of X and the transposed W, or for DynamicQuantizeLSTM
// DynamicQuantizeLinear, MatMulInteger, Cast and Mul by the scales.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

// Appends to the graph's nodes what computes `node`; the last of them is the loop, without outputs.
void expand_recurrent(Graph& graph, const Node& node, Sink& sink);

}  // namespace etch
