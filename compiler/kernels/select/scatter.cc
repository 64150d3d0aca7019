// See scatter.h.
#include "compiler/kernels/select/scatter.h"

#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_PLAN_STEP(ScatterStep, ScatterPlan, scatter_kernel, kDependent);
ETCH_PLAN_STEP(ScanStep, ScanPlan, scan_kernel, kDependent);

namespace {

template <class List>
List without(List list, std::size_t axis) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(axis));
  return list;
}
}  // namespace

ETCH_INSTANTIATE_STEP(ScatterStep);
ETCH_INSTANTIATE_STEP(ScanStep);

void add_scatter(Lowering& lowering, const Node& node, ScatterPlan::Kind kind) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<ScatterStep>();
  step->kind = "scatter";
  StepArguments arguments(lowering, node, *step);
  const Shape& shape = *lowering.value(node.outputs[0]).shape;
  ScatterPlan& plan = step->plan;
  plan.kind = kind;
  const DType type = *lowering.value(node.outputs[0]).dtype;
  const bool is_half = bytes_of(type) == 2 && type != DType::kS16;
  plan.type = bytes_of(type) == 1 ? DType::kU8 : is_half ? DType::kU16 : type;
  plan.x = arguments.parameter(0, "x").argument;
  plan.indices = arguments.parameter(1, "indices").argument;
  plan.updates = arguments.parameter(2, "updates").argument;
  const View y = lowering.new_dense_output(node, 0, row_major(2));
  plan.y = arguments.output("y", y);
  plan.y_stored = stored_as(y);
  plan.size = static_cast<int>(shape[0]);
  plan.width = static_cast<int>(shape[1]);
  plan.count = static_cast<int>(element_count(*lowering.value(node.inputs[1]).shape));
  step->summary = cat("write ", counted(plan.count, "row"), " of ", counted(plan.width, "element"),
                      " among ", plan.size);
  arguments.add(std::move(step));
}

void add_scan(Lowering& lowering, const Node& node, std::size_t axis, bool multiplies,
              bool exclusive, bool reverse) {
  if (refuse_empty(lowering, node)) return;
  const View& x = lowering.view(node, 0);
  const View y = lowering.new_output(node, 0, row_major(x.rank()));
  auto step = std::make_unique<ScanStep>();
  step->kind = "scan";
  ScanPlan& plan = step->plan;
  plan.multiplies = multiplies;
  plan.type = y.dtype;
  plan.exclusive = exclusive;
  plan.reverse = reverse;
  const auto from = steps_of(x), to = steps_of(y);
  plan.n = static_cast<int>(y.shape[axis]);
  plan.x_step = static_cast<int>(from[axis]);
  plan.y_step = static_cast<int>(to[axis]);
  plan.rows = make_rows(without(y.shape, axis), {without(from, axis), without(to, axis)});
  if (plan.rows.step[0] == 1 && plan.rows.step[1] == 1) {
    plan.lines = plan.rows.n;
  } else if (plan.rows.n > 1) {
    plan.rows.axes.push_back({plan.rows.n, plan.rows.step});
  }
  plan.rows.n = 1;
  step->summary = cat(multiplies ? "running product" : "running sum", " of ",
                      counted(element_count(y.shape), "element"));
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
