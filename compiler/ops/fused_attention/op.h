// FusedAttention (org.etch): Softmax(a * b, changed) * c as one node, so that the scores between
// the two products exist a few rows at a time. fuse_attention() makes it; no file has it.
//
//   inputs   what the operators below take and none of them makes, in this order
//   parts    MatMul; then Add, Sub, Mul and Div, each of the result so far and a tensor that is the
//            same for all matrices; Softmax of the rows; MatMul, of which they are the left operand
//
// Each operator keeps its own arithmetic, types and shapes: the result is what they would give one
// after the other.
#pragma once

#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/ops/expression/op.h"

namespace etch {

struct FusedAttention {
  std::vector<ExpressionPart> parts;
};

// Whether `node` of `graph`, which is resolved, can change the scores: float32, and whether that is
// input `slot`, which keeps its shape while the other one is of one matrix at most.
bool can_change_scores(const Graph& graph, const Node& node, std::size_t slot);
// Whether it is a Softmax of the last axis.
bool is_softmax_of_rows(const Graph& graph, const Node& node);

}  // namespace etch
