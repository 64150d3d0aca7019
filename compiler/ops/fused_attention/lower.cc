// Lowering of FusedAttention to one step; see op.h.
#include <cstddef>

#include "compiler/base/check.h"
#include "compiler/kernels/products/attention.h"
#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/fused_attention/op.h"
#include "compiler/ops/matmul/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
CombinePlan::Kind kind_of_change(Arithmetic::Kind kind) {
  switch (kind) {
    case Arithmetic::Kind::kAdd:
      return CombinePlan::Kind::kAdd;
    case Arithmetic::Kind::kSub:
      return CombinePlan::Kind::kSub;
    case Arithmetic::Kind::kMul:
      return CombinePlan::Kind::kMul;
    case Arithmetic::Kind::kDiv:
      return CombinePlan::Kind::kDiv;
    default:
      ETCH_CHECK(false);
  }
}
}  // namespace

void lower_fused_attention(Lowering& lowering, const Node& node) {
  const std::vector<ExpressionPart>& parts = params_of<FusedAttention>(node).parts;
  AttentionGeometry geometry;
  geometry.scores = params_of<MatMulParams>(parts.front().node).geometry;
  geometry.mixed = params_of<MatMulParams>(parts.back().node).geometry;
  geometry.queries = parts.front().inputs[0].index;
  geometry.keys = parts.front().inputs[1].index;
  geometry.values = parts.back().inputs[1].index;
  for (std::size_t i = 1; i + 2 < parts.size(); ++i) {
    const ExpressionPart& part = parts[i];
    const bool scores_first = part.inputs[0].from == ExpressionOperand::From::kPart;
    const ExpressionOperand& other = part.inputs[scores_first ? 1 : 0];
    geometry.changes.push_back(
        {kind_of_change(params_of<Arithmetic>(part.node).kind), scores_first, other.index});
  }
  add_attention(lowering, node, geometry);
}

}  // namespace etch
