// See function_cases.h.
#include "tests/support/function_cases.h"

#include <utility>

#include "compiler/base/text.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

Shape any_function_shape(Dice& dice) {
  Shape out;
  const std::int64_t rank = dice.between(0, 4);
  for (std::int64_t d = 0; d < rank; ++d) out.push_back(dice.one_in(4) ? 1 : dice.between(2, 7));
  return out;
}

// Values around 0, some far from it; none below `least`.
Tensor floats(Dice& dice, Shape shape, float least) {
  Tensor out(DType::kF32, std::move(shape));
  for (float& x : out.as<float>()) {
    x = static_cast<float>(dice.between(-9000, 9000)) * (dice.one_in(5) ? 0.03F : 0.001F);
    if (x < least) x = least - x;
  }
  return out;
}

Case function_case(int index, Dice& dice) {
  const std::vector<std::string> ops{
      "Abs",         "Ceil", "Celu",      "Elu",   "Erf",       "Exp",
      "Floor",       "Gelu", "GeluTanh",  "Log",   "HardSwish", "Mish",
      "HardSigmoid", "Neg",  "QuickGelu", "Selu",  "Softplus",  "Reciprocal",
      "Round",       "Sign", "Softsign",  "Sqrt",  "Tanh",      "ThresholdedRelu",
      "Sin",         "Cos",  "Tan",       "Asin",  "Acos",      "Atan",
      "Sinh",        "Cosh", "Asinh",     "Acosh", "Atanh"};
  std::string op = ops[static_cast<std::size_t>(index) % ops.size()];
  const bool positive = op == "Sqrt" || op == "Log" || op == "Reciprocal";
  const Shape shape = any_function_shape(dice);
  ModelBuilder model(20);
  model.opset("com.microsoft", 1);
  model.input("x", DType::kF32, declared_dims(shape));
  std::map<std::string, Attribute> attributes;
  if (op == "Elu" || op == "ThresholdedRelu" || op == "HardSigmoid") attributes["alpha"] = 0.3F;
  if (op == "GeluTanh") {
    op = "Gelu";
    attributes["approximate"] = std::string("tanh");
  }
  model.node(op, {"x"}, {"y"}, attributes, op == "QuickGelu" ? "com.microsoft" : "");
  model.output("y");
  return {cat(op, "_", index, "_", to_string(shape)),
          model.bytes(),
          {floats(dice, shape, positive ? 0.001F : -1e9F)}};
}

Case power_case(int index, Dice& dice) {
  const Shape shape = any_function_shape(dice);
  ModelBuilder model(13);
  model.input("x", DType::kF32, declared_dims(shape));
  Case out{cat("Pow_", index, "_", to_string(shape)), "", {floats(dice, shape, 0)}};
  const std::int64_t form = dice.between(0, 3);
  if (form == 0) model.initializer("e", Tensor::of<float>({}, {dice.pick<float>({2, 3, 0.7F})}));
  if (form == 1) model.initializer("e", Tensor::of<std::int64_t>({1}, {dice.between(-2, 4)}));
  if (form == 2) model.initializer("e", floats(dice, shape, -1e9F));
  if (form == 3) {
    model.input("e", DType::kF32, declared_dims(shape));
    out.inputs.push_back(floats(dice, shape, -1e9F));
  }
  model.node("Pow", {"x", "e"}, {"y"}).output("y");
  out.model = model.bytes();
  return out;
}

Case variadic_case(int index, Dice& dice) {
  const auto op = dice.pick<std::string>({"Sum", "Max", "Min", "Dropout"});
  const Shape shape = any_function_shape(dice);
  ModelBuilder model(13);
  Case out{cat(op, "_", index, "_", to_string(shape)), "", {}};
  std::vector<std::string> names;
  const std::int64_t count = op == "Dropout" ? 1 : dice.between(1, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    Shape own = shape;
    for (std::int64_t& size : own) size = i > 0 && dice.one_in(3) ? 1 : size;
    const Tensor values = floats(dice, own, -1e9F);
    names.push_back(cat("x", i));
    if (i > 0 && dice.one_in(4)) {
      model.initializer(names.back(), values);
    } else {
      model.input(names.back(), DType::kF32, declared_dims(own));
      out.inputs.push_back(values);
    }
  }
  model.node(op, names, {"y"});
  model.output("y");
  out.model = model.bytes();
  return out;
}

}  // namespace

std::vector<Case> function_cases(int count) { return dealt(count, 21, function_case); }
std::vector<Case> power_cases(int count) { return dealt(count, 22, power_case); }
std::vector<Case> variadic_cases(int count) { return dealt(count, 23, variadic_case); }

}  // namespace etch
