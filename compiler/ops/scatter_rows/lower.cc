// Lowering of ScatterRows.
#include "compiler/kernels/select/scatter.h"
#include "compiler/ops/op.h"
#include "compiler/ops/scatter_rows/op.h"

namespace etch {

namespace {
ScatterPlan::Kind plan_kind(ScatterRows::Kind kind) {
  switch (kind) {
    case ScatterRows::Kind::kReplace:
      return ScatterPlan::Kind::kReplace;
    case ScatterRows::Kind::kAdd:
      return ScatterPlan::Kind::kAdd;
    case ScatterRows::Kind::kMul:
      return ScatterPlan::Kind::kMul;
    case ScatterRows::Kind::kMax:
      return ScatterPlan::Kind::kMax;
    case ScatterRows::Kind::kMin:
      break;
  }
  return ScatterPlan::Kind::kMin;
}
}  // namespace

void lower_scatter_rows(Lowering& lowering, const Node& node) {
  add_scatter(lowering, node, plan_kind(params_of<ScatterRows>(node).kind));
}

}  // namespace etch
