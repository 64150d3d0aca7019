// Lowering of comparisons and logic: rows of the runtime.
#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/select/select.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/compare/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {

ComparePlan::Kind plan_kind(Compare::Kind kind) {
  switch (kind) {
    case Compare::Kind::kEqual:
    case Compare::Kind::kNot:  // equal to 0
      return ComparePlan::Kind::kEqual;
    case Compare::Kind::kLess:
    case Compare::Kind::kGreater:
      return ComparePlan::Kind::kGreater;
    case Compare::Kind::kLessOrEqual:
    case Compare::Kind::kGreaterOrEqual:
      return ComparePlan::Kind::kGreaterOrEqual;
    case Compare::Kind::kAnd:
      return ComparePlan::Kind::kAnd;
    case Compare::Kind::kOr:
      return ComparePlan::Kind::kOr;
    case Compare::Kind::kXor:
      return ComparePlan::Kind::kXor;
  }
  ETCH_CHECK(false);
}

// a < b is b > a.
bool is_turned(Compare::Kind kind) {
  return kind == Compare::Kind::kLess || kind == Compare::Kind::kLessOrEqual;
}

Order order_of(Lowering& lowering, const Node& node, int rank) {
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (lowering.is_constant(node, i)) continue;
    const View& view = lowering.view(node, i);
    if (view.rank() == rank) return order_like(view);
  }
  return row_major(rank);
}

}  // namespace

void lower_compare(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<Compare>(node);
  const auto type = row_type(lowering, node, *lowering.value(node.inputs[0]).dtype);
  if (!type) return;
  auto step = std::make_unique<CompareStep>();
  step->kind = "compare";
  step->summary = cat(node.op_type, " of ", counted(element_count(params.shape), "element"));
  StepArguments arguments(lowering, node, *step);
  const bool turned = is_turned(params.kind);
  const Input a = arguments.input(turned ? 1 : 0, "a");
  const Input b = arguments.input(turned ? 0 : 1, "b");  // Not has none: a zero
  const auto rank = static_cast<int>(params.shape.size());
  const View y = lowering.new_output(node, 0, order_of(lowering, node, rank));
  ComparePlan& plan = step->plan;
  plan.kind = plan_kind(params.kind);
  plan.type = *type;
  plan.a = a.argument;
  plan.b = b.argument;
  plan.y = arguments.output("y", y);
  plan.rows = make_rows(params.shape, {a.steps(params.shape), b.steps(params.shape), steps_of(y)});
  arguments.add(std::move(step));
}

}  // namespace etch
