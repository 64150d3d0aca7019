// Concat of dequantized 16-bit tensors of several scales before a QuantizeLinear: each tensor that
// has other parameters than the result is quantized with the result's, and dequantized again, in
// front of the Concat. Results stay the same, since elements only move in between; then each of
// these pairs is a change of scale on integers, and the Concat one of equal parameters.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// Requires and keeps a resolved graph; returns how many tensors got another scale.
int rescale_joins(Graph& graph);

}  // namespace etch
