// Keeps weights in integers where a float product would have them as floats: MatMul and Gemm whose
// right-hand side is what a DequantizeLinear makes of constants of at most 4 bits, or of any 8-bit
// ones with a scale per block, become MatMulNBits of Etch (compiler/ops/matmul_nbits/op.h). Scales
// may be negative or 0, as quantizers write them.
//
// The sums are those of the float product, bit for bit, except where ONNX Runtime 1.20 and later
// quantize the rows too by default: in blocks of a power of two from 16 on, along a depth that is
// the weights' first axis. There the node has accuracy_level 4 unless kExact is asked for. ONNX
// Runtime keeps rows float before a Relu or Clip, in a sum of matrices, where another node reads
// the weights as well, and where a Cast makes float32 of their float16 (docs/spec/qdq.md).
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

enum class BlockedProducts { kAsOnnxRuntime, kExact };

// Requires and keeps a resolved graph. The DequantizeLinear nodes stay where others read them.
void pack_weights(Graph& graph, BlockedProducts blocked);

}  // namespace etch
