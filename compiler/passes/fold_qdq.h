// Turns groups DequantizeLinear -> operator -> QuantizeLinear into integer operators, exactly where
// and how ONNX Runtime does at its integer level (docs/spec/qdq.md sections 8.1 and 8.2; int8
// allowed everywhere), so that results equal its results bit for bit. What does not match stays
// float.
//
// Requires and keeps a resolved graph; renumbers values. Of all groups (QdqGroups::kAll), means
// over all positions become pools and int8 between Q and DQ becomes uint8 first (pool_means.h,
// retype_pairs.h). Rewrites, repeated until none applies:
//   - Identity and Cast to the same type vanish
//   - DequantizeLinear moves past operators that only move data, and past MaxPool;
//     QuantizeLinear moves before those that keep the number of elements
//   - Relu and Clip that the quantized range implies vanish
//   - Q(DQ(x)) with equal parameters is x
//   - tensors of 16 bits that are joined get one scale (rescale_joins.h)
//   - the groups of fuse_qdq.h become integer operators
// No value that is a graph output changes its meaning. Warns (E-QUANT) about biases whose scale is
// not the product of the input's and the weights' scale.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/qdq_group.h"

namespace etch {

void fold_qdq(Graph& graph, Sink& sink, QdqGroups groups = QdqGroups::kOfOnnxRuntime);

// For --qdq float: changes nothing, and says so in the graph's fusion log.
void keep_qdq(Graph& graph);

}  // namespace etch
