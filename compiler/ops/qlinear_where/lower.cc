// Lowering of QLinearWhere: both sides are looked up in tables that requantize.
#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/table.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_where/op.h"

namespace etch {

namespace {
ByteTable requantizing_table(const QLinearWhere& params, const ScalarQuantization& from) {
  const Tensor all = all_bytes(params.dtype);
  ByteTable table{};
  for (std::size_t i = 0; i < 256; ++i) {
    const auto q = static_cast<std::int32_t>(all.integer(static_cast<std::int64_t>(i)));
    table[i] = static_cast<std::uint8_t>(requantized(q, from, params) & 0xff);
  }
  return table;
}

// The memory order of the first side that has the output's shape.
Order order_for(const Input& a, const Input& b, const Shape& shape) {
  for (const Input* input : {&a, &b}) {
    if (input->argument.operand >= 0 && input->view.shape == shape) return order_like(input->view);
  }
  return row_major(static_cast<int>(shape.size()));
}
}  // namespace

void lower_qlinear_where(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<QLinearWhere>(node);
  auto step = std::make_unique<ChoiceStep>();
  step->kind = "where";
  step->summary = cat("choice between two quantized tensors, ",
                      counted(element_count(params.shape), "element"));
  StepArguments arguments(lowering, node, *step);
  const Input condition = arguments.input(0, "condition");
  const Input a = arguments.input(1, "a");
  const Input b = arguments.input(4, "b");
  const View z = lowering.new_output(node, 0, order_for(a, b, params.shape));
  const rt::Stored as = stored_as(z);
  step->constants.push_back(
      table_constant("a_table", requantizing_table(params, params.x), a.argument.stored, as));
  step->constants.push_back(
      table_constant("b_table", requantizing_table(params, params.y), b.argument.stored, as));
  ChoicePlan& plan = step->plan;
  plan.condition = condition.argument;
  plan.a = a.argument;
  plan.b = b.argument;
  plan.z = arguments.output("z", z);
  plan.rows = make_rows(params.shape, {condition.steps(params.shape), a.steps(params.shape),
                                       b.steps(params.shape), steps_of(z)});
  arguments.add(std::move(step));
}

}  // namespace etch
