// See expression_cases.h.
#include "tests/support/expression_cases.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

float special_float(Dice& dice) {
  const std::vector<float> all{std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               0.0F,
                               -0.0F,
                               1e-42F,
                               -1e-42F,
                               std::numeric_limits<float>::max()};
  return dice.pick(all);
}

Tensor floats(Dice& dice, Shape shape, bool special) {
  Tensor out(DType::kF32, std::move(shape));
  for (float& x : out.as<float>()) {
    x = std::ldexp(static_cast<float>(dice.between(-16777215, 16777215)), -21);
    if (dice.one_in(9)) x = std::ldexp(x, static_cast<int>(dice.between(-12, 12)));
    if (dice.one_in(20)) x = dice.one_in(2) ? 0.0F : -0.0F;
    if (special && dice.one_in(5)) x = special_float(dice);
  }
  return out;
}

Tensor integers(Dice& dice, Shape shape) {
  Tensor out(DType::kS32, std::move(shape));
  for (std::int32_t& x : out.as<std::int32_t>()) {
    x = static_cast<std::int32_t>(dice.between(INT32_MIN, INT32_MAX));
    if (dice.one_in(2)) x /= 100000;
  }
  return out;
}

Tensor scales(Dice& dice, Shape shape) {
  Tensor out(DType::kF32, std::move(shape));
  for (float& x : out.as<float>()) x = std::ldexp(static_cast<float>(dice.between(9, 999)), -10);
  return out;
}

// A model in the making: a list of float values, all of which broadcast to `shape`.
class Tree {
 public:
  Tree(Dice& dice, Shape shape, bool special)
      : dice_(dice), shape_(std::move(shape)), special_(special), model_(18) {}

  std::string input(const Tensor& tensor) {
    const std::string name = new_name();
    model_.input(name, tensor.dtype(), declared_dims(tensor.shape()));
    inputs_.push_back(tensor);
    return name;
  }
  std::string constant(const Tensor& tensor) {
    const std::string name = new_name();
    model_.initializer(name, tensor);
    return name;
  }
  std::string either(const Tensor& tensor) {
    return dice_.one_in(2) ? constant(tensor) : input(tensor);
  }
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::map<std::string, Attribute>& attributes = {}) {
    const std::string name = new_name();
    model_.node(op, inputs, {name}, attributes);
    return name;
  }

  // The whole shape, one with sizes of 1, one with fewer axes, or one element.
  Shape narrower() {
    Shape out = shape_;
    const std::int64_t form = dice_.between(0, 3);
    if (form == 1) {
      for (std::int64_t& size : out) size = dice_.one_in(2) ? 1 : size;
    }
    if (form == 2 && !out.empty()) out.erase(out.begin(), out.begin() + dice_.between(0, 1));
    if (form == 3) out = dice_.one_in(2) || shape_.empty() ? Shape{} : Shape{1};
    return out;
  }

  std::string whole() { return input(floats(dice_, shape_, special_)); }

  std::string dequantized() {
    const DType type = dice_.one_in(2) ? DType::kU8 : DType::kS8;
    const std::string bytes = input(random_bytes(dice_, type, shape_));
    const std::string limit = constant(random_bytes(dice_, type, {}, 90, 100));
    const std::string inside = node("Clip", {bytes, "", limit});
    const bool per_channel = !shape_.empty() && dice_.one_in(2);
    const std::int64_t axis =
        per_channel ? dice_.between(0, static_cast<std::int64_t>(shape_.size()) - 1) : 0;
    const Shape own = per_channel ? Shape{shape_[static_cast<std::size_t>(axis)]} : Shape{};
    std::vector<std::string> inputs{inside, either(scales(dice_, own))};
    if (dice_.one_in(2)) inputs.push_back(constant(random_bytes(dice_, type, own)));
    return node("DequantizeLinear", inputs, {{"axis", axis}});
  }

  std::string leaf() {
    switch (dice_.between(0, 4)) {
      case 0:
        return node("Cast", {input(integers(dice_, shape_))}, {{"to", std::int64_t{1}}});
      case 1:
        return dequantized();
      case 2:
        return either(floats(dice_, narrower(), special_));
      default:
        return whole();
    }
  }

  std::string normalized(const std::string& x) {
    const Shape channels{shape_.size() > 1 ? shape_[1] : 1};
    std::vector<std::string> inputs{x};
    for (int i = 0; i < 3; ++i) inputs.push_back(constant(floats(dice_, channels, special_)));
    inputs.push_back(constant(scales(dice_, channels)));
    return node("BatchNormalization", inputs, {{"epsilon", 0.01F}});
  }

  std::string step(const std::string& x) {
    switch (dice_.between(0, 14)) {
      case 0:
        return node("Relu", {x});
      case 1:
        return node("LeakyRelu", {x}, {{"alpha", 0.3F}});
      case 2:
        return node("PRelu", {x, either(floats(dice_, narrower(), special_))});
      case 3:
        return node("Clip", {x, constant(Tensor::of<float>({}, {-0.5F})), ""});
      case 4:
        return node("Clip", {x, constant(Tensor::of<float>({}, {0})),
                             constant(Tensor::of<float>({}, {6}))});
      case 5:
        return node("HardSigmoid", {x}, {{"alpha", 0.17F}});
      case 6:
        return node("HardSwish", {x});
      case 7:
        return node(dice_.one_in(2) ? "Neg" : "Abs", {x});
      case 8:
        return node("Max", {x, leaf(), constant(Tensor::of<float>({1}, {-0.0F}))});
      case 9:
        if (!shape_.empty()) return normalized(x);
        break;
      default:
        break;
    }
    const std::string op = dice_.pick<std::string>({"Add", "Sub", "Mul", "Div", "Max", "Min"});
    return dice_.one_in(2) ? node(op, {x, leaf()}) : node(op, {leaf(), x});
  }

  Case finish(const std::string& y, std::string name) {
    model_.output(y);
    return {std::move(name), model_.bytes(), std::move(inputs_)};
  }

  std::string quantize(const std::string& x) {
    const DType type = dice_.one_in(2) ? DType::kU8 : DType::kS8;
    const Tensor zero = random_bytes(dice_, type, {});
    const bool late = type == DType::kU8 && dice_.one_in(2);
    return node("QuantizeLinear",
                {x, either(scales(dice_, {})), late ? input(zero) : constant(zero)});
  }

 private:
  std::string new_name() { return cat("v", ++names_); }

  Dice& dice_;
  Shape shape_;
  bool special_;
  ModelBuilder model_;
  std::vector<Tensor> inputs_;
  int names_ = 0;
};

Shape any_expression_shape(Dice& dice) {
  Shape out;
  const std::int64_t rank = dice.between(0, 4);
  for (std::int64_t d = 0; d < rank; ++d)
    out.push_back(dice.one_in(5) ? 1 : dice.between(2, d == rank - 1 ? 40 : 5));
  return out;
}

Case expression_case(int index, Dice& dice, bool quantized, bool special) {
  const Shape shape = any_expression_shape(dice);
  Tree tree(dice, shape, special);
  std::vector<std::string> values{tree.whole()};
  const std::int64_t steps = dice.between(2, 8);
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::string from = dice.one_in(5) ? dice.pick(values) : values.back();
    values.push_back(tree.step(from));
  }
  std::string y = tree.node("Add", {values.back(), dice.pick(values)});
  if (quantized) y = tree.quantize(y);
  return tree.finish(y, cat("expression_", index, "_", to_string(shape)));
}

}  // namespace

std::vector<Case> expression_cases(int count, bool quantized, bool special) {
  Dice dice(quantized ? 31 : 32);
  std::vector<Case> out;
  for (int i = 0; i < count; ++i) out.push_back(expression_case(i, dice, quantized, special));
  return out;
}

std::vector<Case> expression_lengths(bool quantized) {
  Dice dice(33);
  std::vector<Case> out;
  for (std::int64_t n = 1; n <= 67; ++n) {
    Tree tree(dice, {2, n}, false);
    const std::string sums =
        tree.node("Cast", {tree.input(integers(dice, {2, n}))}, {{"to", std::int64_t{1}}});
    const std::string scale = tree.input(Tensor::of<float>({1}, {0x1p-20F}));
    const std::string scaled = tree.node("Mul", {sums, scale});
    const std::string bias = tree.constant(floats(dice, {n}, false));
    std::string y = tree.node("Relu", {tree.node("Add", {scaled, bias})});
    if (quantized) y = tree.quantize(y);
    out.push_back(tree.finish(y, cat("length_", n)));
  }
  return out;
}

namespace {

// DynamicQuantizeLinear, ConvInteger and epilogue, once or twice, with a sum at the end.
class DynamicBlock {
 public:
  DynamicBlock(Dice& dice, std::int64_t channels, std::int64_t side)
      : dice_(dice), channels_(channels), model_(18) {
    const Shape shape{1, channels, side, side};
    model_.input("x", DType::kF32, declared_dims(shape));
    inputs_.push_back(floats(dice, shape, false));
  }

  std::string layer(const std::string& x, int number) {
    const auto named = [&](const char* stem) { return cat(stem, number); };
    model_.node("DynamicQuantizeLinear", {x}, {named("q"), named("q_scale"), named("q_zero")});
    model_.initializer(named("w"), random_bytes(dice_, DType::kS8, {channels_, channels_, 1, 1}));
    model_.node("ConvInteger", {named("q"), named("w"), named("q_zero")}, {named("sums")});
    model_.node("Cast", {named("sums")}, {named("real")}, {{"to", std::int64_t{1}}});
    model_.initializer(named("w_scale"), scales(dice_, dice_.one_in(2) ? Shape{1} : Shape{}));
    model_.node("Mul", {named("q_scale"), named("w_scale")}, {named("scale")});
    model_.node("Mul", {named("real"), named("scale")}, {named("scaled")});
    model_.initializer(named("bias"), floats(dice_, {1, channels_, 1, 1}, false));
    model_.node("Add", {named("scaled"), named("bias")}, {named("biased")});
    const auto op = dice_.pick<std::string>({"Relu", "HardSwish", "HardSigmoid", "LeakyRelu"});
    model_.node(op, {named("biased")}, {named("y")});
    return named("y");
  }

  Case finish(int index) {
    const std::string first = layer("x", 0);
    const std::string second = layer(first, 1);
    model_.node("Add", {second, dice_.one_in(2) ? first : std::string("x")}, {"sum"});
    const bool again = dice_.one_in(2);
    model_.output(again ? layer("sum", 2) : "sum");
    return {cat("dynamic_", index, "_", channels_), model_.bytes(), std::move(inputs_)};
  }

 private:
  Dice& dice_;
  std::int64_t channels_;
  ModelBuilder model_;
  std::vector<Tensor> inputs_;
};

}  // namespace

std::vector<Case> dynamic_blocks(int count) {
  Dice dice(34);
  std::vector<Case> out;
  for (int i = 0; i < count; ++i)
    out.push_back(DynamicBlock(dice, dice.between(1, 40), dice.between(1, 6)).finish(i));
  return out;
}

}  // namespace etch
