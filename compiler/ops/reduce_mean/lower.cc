// Lowering of ReduceMean, ReduceMax, ReduceMin, ReduceSum and ReduceProd.
#include "compiler/kernels/reduce/reduction.h"
#include "compiler/ops/op.h"
#include "compiler/ops/reduce_mean/op.h"

namespace etch {

namespace {
ReducePlan::Kind plan_kind(Reduction::Kind kind) {
  switch (kind) {
    case Reduction::Kind::kMean:
      return ReducePlan::Kind::kMean;
    case Reduction::Kind::kMax:
      return ReducePlan::Kind::kMax;
    case Reduction::Kind::kMin:
      return ReducePlan::Kind::kMin;
    case Reduction::Kind::kSum:
      return ReducePlan::Kind::kSum;
    case Reduction::Kind::kProduct:
      break;
  }
  return ReducePlan::Kind::kProduct;
}
}  // namespace

void lower_reduction(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Reduction>(node);
  add_reduction(lowering, node, plan_kind(params.kind), params.goes, params.in_order);
}

}  // namespace etch
