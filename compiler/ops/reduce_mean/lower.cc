// Lowering of ReduceMean, ReduceMax and ReduceMin.
#include "compiler/ops/op.h"
#include "compiler/ops/reduce_mean/op.h"
#include "compiler/steps/reduction.h"

namespace etch {

void lower_reduction(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Reduction>(node);
  const ReducePlan::Kind kind = params.kind == Reduction::Kind::kMean  ? ReducePlan::Kind::kMean
                                : params.kind == Reduction::Kind::kMax ? ReducePlan::Kind::kMax
                                                                       : ReducePlan::Kind::kMin;
  add_reduction(lowering, node, kind, params.goes);
}

}  // namespace etch
