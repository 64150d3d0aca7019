// Steps over rows of elements; see arithmetic.h.
#include "compiler/kernels/rows/arithmetic.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(CombineStep);
ETCH_INSTANTIATE_STEP(MapStep);
ETCH_INSTANTIATE_STEP(CastStep);
ETCH_INSTANTIATE_STEP(QuantizeRowsStep);
ETCH_INSTANTIATE_STEP(DequantizeRowsStep);
ETCH_INSTANTIATE_STEP(QLinearRowsStep);

bool refuse_empty(Lowering& lowering, const Node& node) {
  if (element_count(*lowering.value(node.outputs[0]).shape) > 0) return false;
  lowering.unsupported(node, "an empty output (a size of 0) cannot be compiled");
  return true;
}

namespace {
// The memory order of the first input that has the output's rank and is not constant.
Order order_from_inputs(Lowering& lowering, const Node& node, int rank) {
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (lowering.is_constant(node, i)) continue;
    const View& view = lowering.view(node, i);
    if (view.rank() == rank) return order_like(view);
  }
  return row_major(rank);
}
// Where there are vectors of doubles: CPUs divide integers one by one.
bool quotients_by_doubles(const Lowering& lowering, CombinePlan::Kind kind, const View& y) {
  const IsaTraits& isa = lowering.isa();
  return kind == CombinePlan::Kind::kDiv && y.dtype == DType::kS32 && isa.float_requantization &&
         isa.lanes >= 8;
}
}  // namespace

void add_combination(Lowering& lowering, const Node& node, CombinePlan::Kind kind,
                     const std::string& summary) {
  if (refuse_empty(lowering, node)) return;
  const Shape& shape = *lowering.value(node.outputs[0]).shape;
  const auto rank = static_cast<int>(shape.size());
  const View y = lowering.new_output(node, 0, order_from_inputs(lowering, node, rank));
  for (int i = 1; i < static_cast<int>(node.inputs.size()); ++i) {
    auto step = std::make_unique<CombineStep>();
    step->kind = "arithmetic";
    step->summary = i == 1 ? summary : cat(summary, ": input ", i);
    StepArguments arguments(lowering, node, *step);
    CombinePlan& plan = step->plan;
    plan.kind = quotients_by_doubles(lowering, kind, y) ? CombinePlan::Kind::kDivByDoubles : kind;
    plan.type = is_8bit(y.dtype) ? DType::kU8 : y.dtype;
    plan.y_stored = stored_as(y);
    const Input a = i == 1 ? arguments.input(0, "a") : arguments.memory(y, "a");
    const Input b = arguments.input(i, "b");
    plan.a = a.argument;
    plan.b = b.argument;
    plan.y = arguments.output("y", y);
    plan.rows = make_rows(shape, {a.steps(shape), b.steps(shape), steps_of(y)});
    arguments.add(std::move(step));
  }
}

void add_map(Lowering& lowering, const Node& node, MapPlan plan, std::string summary) {
  if (refuse_empty(lowering, node)) return;
  const int rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  // int8 is compared as stored: a copy converts a graph input to that form.
  const View x = lowering.ordered(node, 0, order_from_inputs(lowering, node, rank));
  const View y = lowering.new_output(node, 0, order_like(x));
  auto step = std::make_unique<MapStep>();
  step->kind = "map";
  step->summary = std::move(summary);
  plan.type = x.dtype;
  plan.rows = make_rows(x.shape, {steps_of(x), steps_of(y)});
  step->plan = std::move(plan);
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
