// Keeps weights in integers where a float product would have them as floats: MatMul and Gemm whose
// right-hand side is what a DequantizeLinear makes of constants of at most 4 bits, or of any 8-bit
// ones with a scale per block, become MatMulNBits of Etch, which computes the same sums bit for bit
// (compiler/ops/matmul_nbits/op.h). Scales may be negative or 0, as quantizers write them.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// Requires and keeps a resolved graph. The DequantizeLinear nodes stay where others read them.
void pack_weights(Graph& graph);

}  // namespace etch
