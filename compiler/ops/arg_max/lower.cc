// Lowering of ArgMax and ArgMin.
#include "compiler/kernels/reduce/arg_extreme.h"
#include "compiler/ops/arg_max/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_arg_extreme(Lowering& lowering, const Node& node) {
  const auto& params = params_of<ArgExtreme>(node);
  ArgExtremePlan plan;
  plan.largest = params.kind == ArgExtreme::Kind::kMax;
  plan.last_of_equals = params.tie == ArgExtreme::Tie::kLast ? 1 : 0;
  add_arg_extreme(lowering, node, plan, params.axis);
}

}  // namespace etch
