// Lowering of Where: rows of the runtime.
#include <memory>
#include <optional>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/select/select.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/op.h"
#include "compiler/ops/where/op.h"

namespace etch {

namespace {
// 16 bits of a float are chosen as an integer's.
std::optional<DType> choice_type(Lowering& lowering, const Node& node, DType type) {
  if (type == DType::kS16) return type;
  return bytes_of(type) == 2 ? DType::kU16 : row_type(lowering, node, type);
}
}  // namespace

void lower_where(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const Shape& shape = params_of<Where>(node).shape;
  const DType of_node = *lowering.value(node.outputs[0]).dtype;
  const auto type = choice_type(lowering, node, of_node);
  if (!type) return;
  auto step = std::make_unique<WhereStep>();
  step->kind = "where";
  step->summary = cat("choice of ", counted(element_count(shape), "element"));
  StepArguments arguments(lowering, node, *step);
  const Input condition = arguments.input(0, "condition");
  const Input a = arguments.input(1, "a");
  const Input b = arguments.input(2, "b");
  const View y = lowering.new_output(node, 0, row_major(static_cast<int>(shape.size())));
  WherePlan& plan = step->plan;
  plan.type = *type;
  plan.condition = condition.argument;
  plan.a = a.argument;
  plan.b = b.argument;
  plan.y = arguments.output("y", y);
  plan.y_stored = stored_as(y);
  plan.rows =
      make_rows(shape, {condition.steps(shape), a.steps(shape), b.steps(shape), steps_of(y)});
  arguments.add(std::move(step));
}

}  // namespace etch
