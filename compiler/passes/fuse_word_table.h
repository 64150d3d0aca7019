// Pointwise functions of one 16-bit tensor between DequantizeLinear and QuantizeLinear become
// Table16 nodes, which take integers alone: activations and chains of them with scalar constants,
// as x * Sigmoid(x), Clip(x + 3, 0, 6) / 6 * x or Gelu taken apart. Each of the 65,536 results is
// the function of the real numbers, computed in double precision, rounded once
// (docs/spec/products.md section 5.11). What is not finite or needs more than kMostTableBytes
// stays float.
//
// Requires and keeps a resolved graph. Runs after fold_qdq, which decides what is integer
// arithmetic, and after folding of dequantized constants.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

constexpr int kMostTableBytes = 49152;

void fuse_word_table(Graph& graph);

}  // namespace etch
