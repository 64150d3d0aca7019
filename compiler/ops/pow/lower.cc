// Lowering of Pow: one constant exponent is a function of x, others are taken element by element.
#include <algorithm>
#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/function.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pow/op.h"

namespace etch {

namespace {
Tensor as_floats(const Tensor& integers) {
  Tensor out(DType::kF32, integers.shape());
  std::ranges::transform(integers.integers(), out.as<float>().begin(),
                         [](std::int64_t value) { return static_cast<float>(value); });
  return out;
}
}  // namespace

void lower_pow(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Pow>(node);
  const std::string count = cat(element_count(params.shape), " floats");
  const bool same_shape = lowering.value(node.inputs[0]).shape == params.shape;
  if (params.exponent && same_shape && !lowering.is_constant(node, 0)) {
    add_function(lowering, node, params.function, *params.exponent, 0,
                 cat(count, " to the power ", decimal(*params.exponent)));
    return;
  }
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<PowerStep>();
  step->kind = "power";
  step->summary = cat(count, " to powers of their own");
  StepArguments arguments(lowering, node, *step);
  const Input a = arguments.input(0, "a");
  const bool floats = lowering.value(node.inputs[1]).dtype == DType::kF32;
  const Input b = floats ? arguments.input(1, "b")
                         : arguments.data(as_floats(lowering.constant(node, 1)), "b", "exponents");
  const auto rank = static_cast<int>(params.shape.size());
  const bool like_a = a.argument.operand >= 0 && a.view.rank() == rank;
  const View y = lowering.new_output(node, 0, like_a ? order_like(a.view) : row_major(rank));
  step->plan.a = a.argument;
  step->plan.b = b.argument;
  step->plan.y = arguments.output("y", y);
  step->plan.rows =
      make_rows(params.shape, {a.steps(params.shape), b.steps(params.shape), steps_of(y)});
  arguments.add(std::move(step));
}

}  // namespace etch
