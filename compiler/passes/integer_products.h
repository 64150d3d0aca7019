// Products of quantized values whose result stays float, computed in integers (--qdq all): a
// convolution before a sum that quantizers do not quantize (NNCF, PyTorch's export), or a
// network's last one. Conv becomes ConvInteger, Cast, Mul and Add, MatMul and Gemm
// MatMulIntegerToFloat,
//   y = fl( fl( fl(sum) * fl(x_scale * w_scale[m]) ) + bias[m] )      (docs/spec/qdq.md
//   section 8.1)
// which is nearer to the real result than sums of rounded floats are, and not equal to these.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// For fold_qdq, once it has made all groups that are quantized on both sides; returns how many
// products it has changed.
int integer_products(Graph& graph);

// Without --qdq all: says in the log of which products that would make integers.
void offer_integer_products(Graph& graph);

}  // namespace etch
