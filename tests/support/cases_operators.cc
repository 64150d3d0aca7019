// Matrix products, sums, pools, softmax and conversions, and short networks; see cases.h.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/reference_math.h"
#include "tests/support/channel_cases.h"
#include "tests/support/conv_node.h"
#include "tests/support/dealt.h"

namespace etch {

namespace {
using Attributes = std::map<std::string, Attribute>;
constexpr const char* kMicrosoft = "com.microsoft";

ModelBuilder empty_model() {
  ModelBuilder model(13);
  model.opset(kMicrosoft, 1);
  return model;
}

// Power-of-two scales make ties, which is where rounding rules differ.
float any_scale(Dice& dice) {
  if (dice.one_in(3)) return std::ldexp(1.0F, static_cast<int>(dice.between(-7, -3)));
  return static_cast<float>(dice.between(1000, 90000)) * 1e-6F;
}

QuantizedActivation any_activation(Dice& dice, DType type) {
  return {type, any_scale(dice), any_zero_point(dice, type)};
}

// "b" and its quantization, per tensor or per column.
void add_matrix(ModelBuilder& model, Dice& dice, DType type, const Shape& shape,
                std::int64_t columns) {
  model.initializer("b", random_bytes(dice, type, shape));
  const std::int64_t count = dice.one_in(2) ? columns : 1;
  std::vector<float> scale;
  std::vector<std::int32_t> zero_point;
  for (std::int64_t n = 0; n < count; ++n) {
    scale.push_back(any_scale(dice));
    zero_point.push_back(any_zero_point(dice, type));
  }
  const Shape vector = count == 1 ? Shape{} : Shape{count};
  model.initializer("bq_scale", Tensor::of<float>(vector, scale));
  model.initializer("bq_zero_point", narrowed(type, vector, zero_point));
}

QuantizedActivation product_output(Dice& dice, float a_scale, std::int64_t depth) {
  QuantizedActivation y = any_activation(dice, any_8bit(dice));
  y.scale = a_scale * 0.02F *
            std::exp2(std::round(std::log2(110.0F * std::sqrt(static_cast<float>(depth) + 1))));
  return y;
}

Case matmul_case(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const std::int64_t rows = dice.between(1, 9), depth = dice.between(1, 70);
  const std::int64_t columns = dice.between(1, 70);
  Shape shape{rows, depth};
  if (dice.one_in(3)) shape.insert(shape.begin(), dice.between(1, 3));
  const QuantizedActivation a = any_activation(dice, any_8bit(dice));
  model.input("a", a.type, declared_dims(shape));
  add_activation(model, "aq", a);
  add_matrix(model, dice, any_8bit(dice), {depth, columns}, columns);
  add_activation(model, "yq", product_output(dice, a.scale, depth));
  model.node("QLinearMatMul",
             {"a", "aq_scale", "aq_zero_point", "b", "bq_scale", "bq_zero_point", "yq_scale",
              "yq_zero_point"},
             {"y"});
  model.output("y");
  return {cat("matmul_", index, "_", to_string(shape), "x", columns),
          model.bytes(),
          {random_bytes(dice, a.type, shape)}};
}

Case gemm_case(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const std::int64_t rows = dice.between(1, 9), depth = dice.between(1, 70);
  const std::int64_t columns = dice.between(1, 70);
  const std::int64_t a_turned = dice.between(0, 1), b_turned = dice.between(0, 1);
  const Shape shape = a_turned != 0 ? Shape{depth, rows} : Shape{rows, depth};
  const QuantizedActivation a = any_activation(dice, any_8bit(dice));
  model.input("a", a.type, declared_dims(shape));
  add_activation(model, "aq", a);
  add_matrix(model, dice, any_8bit(dice),
             b_turned != 0 ? Shape{columns, depth} : Shape{depth, columns}, columns);
  std::string c;
  if (dice.one_in(2)) {
    c = "c";
    std::vector<std::int32_t> bias;
    for (std::int64_t n = 0; n < columns; ++n)
      bias.push_back(static_cast<std::int32_t>(dice.between(-50000, 50000)));
    model.initializer("c", Tensor::of<std::int32_t>({columns}, bias));
  }
  add_activation(model, "yq", product_output(dice, a.scale, depth));
  model.node("QGemm",
             {"a", "aq_scale", "aq_zero_point", "b", "bq_scale", "bq_zero_point", c, "yq_scale",
              "yq_zero_point"},
             {"y"}, {{"transA", a_turned}, {"transB", b_turned}, {"alpha", 0.75F}}, kMicrosoft);
  model.output("y");
  return {cat("gemm_", index, "_", rows, "x", depth, "x", columns),
          model.bytes(),
          {random_bytes(dice, a.type, shape)}};
}

Shape any_image(Dice& dice, bool channels_last) {
  const std::int64_t channels = dice.between(1, 40);
  Shape shape{dice.between(1, 2)};
  if (!channels_last) shape.push_back(channels);
  shape.push_back(dice.between(1, 9));
  shape.push_back(dice.between(1, 9));
  if (channels_last) shape.push_back(channels);
  return shape;
}

// The second operand of QLinearAdd or QLinearMul is a run-time tensor, a constant, or one that
// broadcasts.
Case binary_case(const std::string& op, int index, Dice& dice) {
  const bool adds = op == "QLinearAdd";
  ModelBuilder model = empty_model();
  const DType type = any_8bit(dice);
  const Shape shape = any_image(dice, false);
  const std::int64_t form = dice.between(0, adds ? 3 : 4);
  const Shape other = form == 0 ? Shape{} : form == 1 || form == 4 ? Shape{shape[1], 1, 1} : shape;
  model.input("a", type, declared_dims(shape));
  Case out{cat(op, "_", index, "_", to_string(shape), "+", to_string(other)), "", {}};
  out.inputs.push_back(random_bytes(dice, type, shape));
  if (form >= 3) {
    model.input("b", type, declared_dims(other));
    out.inputs.push_back(random_bytes(dice, type, other));
  } else {
    model.initializer("b", random_bytes(dice, type, other));
  }
  const QuantizedActivation a = any_activation(dice, type), b = any_activation(dice, type);
  QuantizedActivation y = any_activation(dice, type);
  y.scale = adds ? a.scale + b.scale : a.scale * b.scale * static_cast<float>(dice.between(1, 90));
  if (dice.one_in(3)) y.scale = std::exp2(std::round(std::log2(y.scale)));
  add_activation(model, "aq", a);
  add_activation(model, "bq", b);
  add_activation(model, "yq", y);
  std::vector<std::string> names{"a", "aq_scale", "aq_zero_point",
                                 "b", "bq_scale", "bq_zero_point"};
  if (dice.one_in(2)) std::rotate(names.begin(), names.begin() + 3, names.end());
  names.insert(names.end(), {"yq_scale", "yq_zero_point"});
  model.node(op, names, {"y"}, {}, kMicrosoft);
  model.output("y");
  out.model = model.bytes();
  return out;
}

// DequantizeLinear, Add or Mul, Relu or Clip, QuantizeLinear with powers of two as scales: one
// operator with limits, unless an odd zero point comes after ties that go to even.
Case limited_case(int index, Dice& dice) {
  ModelBuilder model(17);
  const DType type = any_8bit(dice);
  const Shape shape = any_image(dice, false);
  const bool adds = dice.one_in(2), clips = dice.one_in(2);
  const auto power = [&](std::int64_t low, std::int64_t high) {
    return std::ldexp(1.0F, static_cast<int>(dice.between(low, high)));
  };
  const auto dequantize = [&](const std::string& name, const Shape& own, float scale) {
    model.input(name, type, declared_dims(own));
    add_activation(model, name + "q", {type, scale, any_zero_point(dice, type)});
    model.node("DequantizeLinear", {name, name + "q_scale", name + "q_zero_point"}, {name + "f"});
    return random_bytes(dice, type, own);
  };
  const Shape other = dice.one_in(3) ? Shape{shape[1], 1, 1} : shape;
  const float a = power(-6, 0), b = power(-6, 0);
  Case out{cat("limited_", index, "_", to_string(shape), "+", to_string(other)), "", {}};
  out.inputs = {dequantize("a", shape, a), dequantize("b", other, b)};
  model.node(adds ? "Add" : "Mul", {"af", "bf"}, {"s"});
  if (clips) {
    model.initializer("low", Tensor::of<float>({}, {-0.5F}));
    model.initializer("high", Tensor::of<float>({}, {6}));
    model.node("Clip", {"s", "low", "high"}, {"r"});
  } else {
    model.node("Relu", {"s"}, {"r"});
  }
  const float y = adds ? std::max(a, b) * power(-1, 3) : a * b * power(0, 7);
  add_activation(model, "yq", {type, y, any_zero_point(dice, type)});
  model.node("QuantizeLinear", {"r", "yq_scale", "yq_zero_point"}, {"y"}).output("y");
  out.model = model.bytes();
  return out;
}

Attributes pool_attributes(Dice& dice, const Shape& shape, bool channels_last) {
  std::vector<std::int64_t> kernel, stride, pads(4, 0);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t in = shape[axis + (channels_last ? 1 : 2)];
    kernel.push_back(dice.between(1, std::min<std::int64_t>(3, in)));
    stride.push_back(dice.between(1, 3));
    pads[axis] = dice.between(0, kernel.back() - 1);
    pads[axis + 2] = dice.between(0, kernel.back() - 1);
  }
  return {{"kernel_shape", kernel},
          {"strides", stride},
          {"pads", pads},
          {"ceil_mode", dice.between(0, 1)}};
}

Case max_pool_case(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const DType type = any_8bit(dice);
  const Shape shape = any_image(dice, false);
  model.input("x", type, declared_dims(shape));
  model.node("MaxPool", {"x"}, {"y"}, pool_attributes(dice, shape, false));
  model.output("y");
  return {cat("max_pool_", index, "_", to_string(shape)),
          model.bytes(),
          {random_bytes(dice, type, shape)}};
}

Case average_pool_case(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const DType type = any_8bit(dice);
  const bool last = dice.one_in(2);
  const Shape shape = any_image(dice, last);
  Attributes attributes;
  const bool global = dice.one_in(2);
  if (!global) {
    attributes = pool_attributes(dice, shape, last);
    attributes["count_include_pad"] = dice.between(0, 1);
  }
  attributes["channels_last"] = std::int64_t{last ? 1 : 0};
  const QuantizedActivation x = any_activation(dice, type);
  QuantizedActivation y = any_activation(dice, type);
  y.scale = dice.one_in(2) ? x.scale : x.scale * 0.7F;
  model.input("x", type, declared_dims(shape));
  add_activation(model, "xq", x);
  add_activation(model, "yq", y);
  model.node(global ? "QLinearGlobalAveragePool" : "QLinearAveragePool",
             {"x", "xq_scale", "xq_zero_point", "yq_scale", "yq_zero_point"}, {"y"}, attributes,
             kMicrosoft);
  model.output("y");
  return {cat(global ? "global_" : "", "average_pool_", index, "_", to_string(shape)),
          model.bytes(),
          {random_bytes(dice, type, shape)}};
}

Case softmax_case(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const DType type = any_8bit(dice);
  const Shape shape{dice.between(1, 4), dice.between(1, 50)};
  QuantizedActivation y = any_activation(dice, type);
  y.scale = 1.0F / 256;
  y.zero_point = static_cast<int>(min_of(type));
  model.input("x", type, declared_dims(shape));
  add_activation(model, "xq", any_activation(dice, type));
  add_activation(model, "yq", y);
  model.node("QLinearSoftmax", {"x", "xq_scale", "xq_zero_point", "yq_scale", "yq_zero_point"},
             {"y"}, {{"opset", std::int64_t{13}}, {"axis", std::int64_t{-1}}}, kMicrosoft);
  model.output("y");
  return {cat("softmax_", index, "_", to_string(shape)),
          model.bytes(),
          {random_bytes(dice, type, shape)}};
}

// Float in, float out: quantize, transpose into another order, dequantize, softmax.
Case conversion_case(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const Shape shape = any_image(dice, false);
  const QuantizedActivation q = any_activation(dice, any_8bit(dice));
  std::vector<float> values;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const auto step = static_cast<float>(dice.between(-400, 400));
    values.push_back(step * q.scale * (dice.one_in(2) ? 0.5F : 0.37F));
  }
  model.input("x", DType::kF32, declared_dims(shape));
  add_activation(model, "q", q);
  model.node("QuantizeLinear", {"x", "q_scale", "q_zero_point"}, {"xq"});
  model.node("Transpose", {"xq"}, {"xt"}, {{"perm", Ints{0, 2, 3, 1}}});
  model.node("DequantizeLinear", {"xt", "q_scale", "q_zero_point"}, {"xf"});
  model.node("Softmax", {"xf"}, {"y"}, {{"axis", std::int64_t{-1}}});
  model.output("xq").output("xf").output("y");
  return {cat("conversion_", index, "_", to_string(shape)),
          model.bytes(),
          {Tensor::of<float>(shape, values)}};
}

// ---- networks ----

// Grows a network at its end; the current value is the last node's output.
class Network {
 public:
  explicit Network(Dice& dice) : dice_(dice), type_(any_8bit(dice)) {
    now_ = {type_, 0.02F, any_zero_point(dice_, type_)};
    size_ = {1, dice_.between(1, 20), dice_.between(3, 9), dice_.between(3, 9)};
    value_ = "x";
    model_.input("x", type_, declared_dims(size_));
    input_ = random_bytes(dice_, type_, size_);
  }

  void convolution(std::int64_t kernel, bool depthwise) {
    ConvShape shape;
    shape.group = depthwise ? size_[1] : 1;
    shape.in_per_group = depthwise ? 1 : size_[1];
    shape.out_per_group = depthwise ? 1 : dice_.between(1, 24);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      shape.in.push_back(size_[axis + 2]);
      shape.kernel.push_back(kernel);
      shape.stride.push_back(dice_.one_in(4) ? 2 : 1);
      shape.dilation.push_back(1);
      shape.pad_begin.push_back(kernel / 2);
      shape.pad_end.push_back(kernel / 2);
      size_[axis + 2] = (size_[axis + 2] - kernel + 2 * (kernel / 2)) / shape.stride.back() + 1;
    }
    size_[1] = shape.group * shape.out_per_group;
    const ConvNode node(shape, now_, Scaling::kTypical, dice_);
    const std::string y = next();
    node.add(model_, value_, y, y + "_");
    now_ = node.y();
    value_ = y;
  }

  // conv(value) + value, or value + value where the shapes differ.
  void residual() {
    const std::string before = value_;
    const QuantizedActivation before_q = now_;
    const Shape before_size = size_;
    convolution(dice_.between(0, 1) * 2 + 1, true);
    const bool fits = size_ == before_size && before_q.type == now_.type;
    const std::string other = fits ? before : value_;
    const QuantizedActivation other_q = fits ? before_q : now_;
    const std::string y = next();
    QuantizedActivation sum{now_.type, now_.scale + other_q.scale,
                            any_zero_point(dice_, now_.type)};
    add_activation(model_, y + "_a", now_);
    add_activation(model_, y + "_b", other_q);
    add_activation(model_, y + "_c", sum);
    model_.node("QLinearAdd",
                {value_, y + "_a_scale", y + "_a_zero_point", other, y + "_b_scale",
                 y + "_b_zero_point", y + "_c_scale", y + "_c_zero_point"},
                {y}, {}, kMicrosoft);
    now_ = sum;
    value_ = y;
  }

  void max_pool() {
    const std::string y = next();
    model_.node(
        "MaxPool", {value_}, {y},
        {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{1, 1}}, {"pads", Ints{1, 1, 1, 1}}});
    value_ = y;
  }

  void another_output() { outputs_.push_back(value_); }

  Case finish(const std::string& name) {
    another_output();
    std::sort(outputs_.begin(), outputs_.end());
    outputs_.erase(std::unique(outputs_.begin(), outputs_.end()), outputs_.end());
    for (const std::string& output : outputs_) model_.output(output);
    return {name, model_.bytes(), {input_}};
  }

 private:
  std::string next() { return cat("v", ++count_); }

  Dice& dice_;
  ModelBuilder model_ = empty_model();
  DType type_;
  QuantizedActivation now_;
  Shape size_;
  std::string value_;
  int count_ = 0;
  std::vector<std::string> outputs_;
  Tensor input_;
};
}  // namespace

std::vector<Case> small_networks(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 5'000'000);
    Network network(dice);
    std::string name = cat("network_", index, "_");
    const std::int64_t length = dice.between(2, 6);
    for (std::int64_t i = 0; i < length; ++i) {
      const char what = dice.pick<char>({'1', '3', '5', 'd', 'D', 'r', 'r', 'm'});
      name += what;
      if (what == '1' || what == '3' || what == '5') network.convolution(what - '0', false);
      if (what == 'd') network.convolution(3, true);
      if (what == 'D') network.convolution(5, true);
      if (what == 'r') network.residual();
      if (what == 'm') network.max_pool();
      if (dice.one_in(6)) network.another_output();
    }
    out.push_back(network.finish(name));
  }
  return out;
}

std::vector<Case> pools(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(7'700'000 + static_cast<std::uint64_t>(index));
    out.push_back(index % 2 == 0 ? max_pool_case(index, dice) : average_pool_case(index, dice));
  }
  return out;
}

std::vector<Case> other_operators(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 6'000'000);
    out.push_back(matmul_case(index, dice));
    out.push_back(gemm_case(index, dice));
    out.push_back(binary_case("QLinearAdd", index, dice));
    out.push_back(max_pool_case(index, dice));
    out.push_back(average_pool_case(index, dice));
    out.push_back(softmax_case(index, dice));
    out.push_back(conversion_case(index, dice));
    out.push_back(binary_case("QLinearMul", index, dice));
    out.push_back(limited_case(index, dice));
  }
  return out;
}

}  // namespace etch
