// Makes one node of attention in floats, Softmax(a * b, scaled and masked) * c, where the scores
// between the products are many: computed a few rows at a time they stay in a cache.
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace etch {

// Scores of more bytes than this are never whole in memory.
inline constexpr std::int64_t kFuseAttentionAbove = std::int64_t{256} << 10;

// Requires resolved nodes; to be run when operators are those that will be lowered, and before
// fuse_expressions(). Takes float MatMul, any of can_change_scores(), Softmax of the last axis and
// MatMul with the same batch, each the only reader of the one before it, and none in a loop or
// branch that the one before it is outside of.
void fuse_attention(Graph& graph, std::int64_t above = kFuseAttentionAbove);

}  // namespace etch
