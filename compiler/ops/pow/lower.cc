// Lowering of Pow: one constant exponent is a function of x, others are taken element by element.
#include <memory>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pow/op.h"
#include "compiler/steps/arguments.h"
#include "compiler/steps/arithmetic.h"
#include "compiler/steps/function.h"
#include "compiler/steps/pack.h"

namespace etch {

namespace {
// Constant integer exponents as a constant of floats.
Input as_floats(Step& step, const Tensor& exponents) {
  std::vector<float> values;
  for (const std::int64_t value : exponents.integers()) values.push_back(static_cast<float>(value));
  step.constants.push_back(float_array("b", values, "exponents, row-major"));
  Input out;
  out.argument = {"b", -1, exponents.size(), {0, 0}};
  out.view.shape = exponents.shape();
  out.view.dtype = DType::kF32;
  lay_out(out.view, row_major(out.view.rank()));
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
  const Input b = floats ? arguments.input(1, "b") : as_floats(*step, lowering.constant(node, 1));
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
