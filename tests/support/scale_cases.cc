// See scale_cases.h.
#include "tests/support/scale_cases.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/conv_node.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kTwoTo31 = 2147483648.0F;

float any_scale(Dice& dice) {
  return dice.pick<float>({1e-45F, 1e-40F,   1e-38F, 1.2e-38F, 1e-30F, 1e-19F, 1e-10F,
                           1e-6F,  1e-3F,    0.05F,  1,        100,    1e6F,   8.4e6F,
                           1e10F,  kTwoTo31, 1e19F,  1e30F,    1e38F,  kMost});
}

// Often so far below `from` that a few steps of it leave int32, or all leave float32.
float far_from(Dice& dice, float from) {
  if (dice.one_in(3)) return any_scale(dice);
  const float ratio = dice.pick<float>({1, 300, 2.1e6F, 8.4e6F, 8.5e6F, 1e8F, 1e20F, 1e33F, 1e36F});
  const float near = dice.one_in(4) ? from * ratio : from / ratio;
  return near > 0 && std::isfinite(near) ? near : from;
}

// A model under construction: one operator, its quantizations, its inputs.
class ScaleCase {
 public:
  explicit ScaleCase(int index) : dice_(static_cast<std::uint64_t>(index) + 9000), model_(13) {
    model_.opset("com.microsoft", 1);
    type_ = any_8bit(dice_);
  }

  Dice& dice() { return dice_; }
  ModelBuilder& model() { return model_; }
  DType type() const { return type_; }

  // "NAME", "NAME_scale", "NAME_zero" for the inputs of a QLinear operator.
  std::vector<std::string> quantized(const std::string& name, float scale, const Shape& shape) {
    std::vector<std::string> names = parameters(name, scale);
    names.insert(names.begin(), name);
    bytes(name, shape);
    return names;
  }
  std::vector<std::string> parameters(const std::string& name, float scale) {
    model_.initializer(name + "_scale", f32({}, {scale}));
    Tensor zero(type_, {});
    set(zero, 0, any_zero_point(dice_, type_));
    model_.initializer(name + "_zero", zero);
    text_ += cat(" ", name, " ", decimal(scale), " ", zero.integer(0));
    return {name + "_scale", name + "_zero"};
  }
  // The ends of the type among the first elements, whatever is drawn.
  void bytes(const std::string& name, const Shape& shape) {
    Tensor data = random_bytes(dice_, type_, shape);
    const std::int64_t ends[] = {min_of(type_), max_of(type_), 0};
    for (std::int64_t i = 0; i < std::min<std::int64_t>(data.size(), 6); ++i)
      set(data, i, static_cast<int>(ends[(name == "a" ? i : i / 2) % 3]));
    input(name, data);
  }
  void input(const std::string& name, const Tensor& data) {
    const Shape& shape = data.shape();
    model_.input(name, data.dtype(), {shape.begin(), shape.end()});
    inputs_.push_back(data);
  }
  Case finish(const std::string& what, const std::string& y = "y") {
    model_.output(y);
    return {cat(what, ",", text_), model_.bytes(), std::move(inputs_)};
  }

 private:
  void set(Tensor& tensor, std::int64_t i, int value) {
    tensor.mutable_bytes()[static_cast<std::size_t>(i)] = static_cast<std::byte>(value);
  }

  Dice dice_;
  ModelBuilder model_;
  DType type_ = DType::kU8;
  std::string text_;
  std::vector<Tensor> inputs_;
};

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

const Shape kRow{2, 35};
const Shape kImage{1, 5, 4, 3};

Case binary(ScaleCase& c, const std::string& op, float a, float b, float y) {
  std::vector<std::string> names = c.quantized("a", a, kRow);
  append(names, c.quantized("b", b, kRow));
  append(names, c.parameters("y", y));
  c.model().node(op, names, {"y"}, {}, "com.microsoft");
  return c.finish(op);
}

Case any_binary(ScaleCase& c) {
  const float a = any_scale(c.dice()), b = far_from(c.dice(), a);
  const bool add = c.dice().one_in(2);
  const float y = far_from(c.dice(), add ? a : a * b > 0 && std::isfinite(a * b) ? a * b : a);
  return binary(c, add ? "QLinearAdd" : "QLinearMul", a, b, y);
}

// The same with DequantizeLinear and QuantizeLinear around Add or Mul.
Case float_binary(ScaleCase& c) {
  const float a = any_scale(c.dice());
  c.model().node("DequantizeLinear", c.quantized("a", a, kRow), {"af"});
  c.model().node("DequantizeLinear", c.quantized("b", far_from(c.dice(), a), kRow), {"bf"});
  c.model().node(c.dice().one_in(2) ? "Add" : "Mul", {"af", "bf"}, {"yf"});
  std::vector<std::string> names{"yf"};
  append(names, c.parameters("y", far_from(c.dice(), a)));
  c.model().node("QuantizeLinear", names, {"y"});
  return c.finish("Add or Mul of floats");
}

// Scales that arrive at run time.
Case run_time_binary(ScaleCase& c) {
  const bool add = c.dice().one_in(2);
  std::vector<std::string> names;
  float scale = any_scale(c.dice());
  for (const char* operand : {"a", "b", "y"}) {
    if (operand[0] != 'y') names.emplace_back(operand);
    const std::vector<std::string> constant = c.parameters(operand, 1);
    const std::string name = cat(operand, "_later");
    c.input(name, f32({}, {scale}));
    append(names, {name, constant[1]});
    if (operand[0] != 'y') c.bytes(operand, kRow);
    scale = far_from(c.dice(), scale);
  }
  c.model().node(add ? "QLinearAdd" : "QLinearMul", names, {"y"}, {}, "com.microsoft");
  return c.finish("scales at run time");
}

Tensor weights(Dice& dice, const Shape& shape) { return random_bytes(dice, DType::kS8, shape); }

// Adds a QLinearConv of kImage to `y`, 8 channels.
void convolution(ScaleCase& c, float x_scale, float w_scale, float y_scale, const std::string& y) {
  std::vector<std::string> names = c.quantized("x", x_scale, kImage);
  c.model().initializer("w", weights(c.dice(), {8, kImage[1], 1, 1}));
  c.model().initializer("w_scale", f32({}, {w_scale})).initializer("w_zero", s8({}, {0}));
  append(names, {"w", "w_scale", "w_zero"});
  append(names, c.parameters("own", y_scale));
  c.model().node("QLinearConv", names, {y});
}

Case any_convolution(ScaleCase& c) {
  const float x = any_scale(c.dice());
  convolution(c, x, c.dice().one_in(2) ? 1 : any_scale(c.dice()), far_from(c.dice(), x), "y");
  return c.finish("QLinearConv");
}

Case residual(ScaleCase& c) {
  const float own = any_scale(c.dice());
  convolution(c, 1, 0.01F, 1, "v");
  std::vector<std::string> names{"v", "own_scale", "own_zero"};
  c.model().initializer("sum_scale", f32({}, {own}));
  names[1] = "sum_scale";
  append(names, c.quantized("r", far_from(c.dice(), own), {1, 8, 4, 3}));
  append(names, c.parameters("y", far_from(c.dice(), own)));
  c.model().node("QLinearAdd", names, {"y"}, {}, "com.microsoft");
  return c.finish("QLinearConv and QLinearAdd");
}

// One that a convolution takes over: the convolution's own scale is the summand's.
Case fused_residual(ScaleCase& c) {
  const float own = c.dice().pick<float>({1e-6F, 0.05F, 1, 100, 1e10F});
  convolution(c, own, 0.01F, own, "v");
  std::vector<std::string> names{"v", "own_scale", "own_zero"};
  append(names, c.quantized("r", far_from(c.dice(), own), {1, 8, 4, 3}));
  append(names, c.parameters("y", far_from(c.dice(), own)));
  c.model().node("QLinearAdd", names, {"y"}, {}, "com.microsoft");
  return c.finish("QLinearConv with a residual");
}

// A bias in steps of scales whose product may be 0 or infinite.
Case float_convolution(ScaleCase& c) {
  const float x = any_scale(c.dice());
  c.model().node("DequantizeLinear", c.quantized("x", x, kImage), {"xf"});
  c.model().initializer("w", weights(c.dice(), {8, kImage[1], 1, 1}));
  c.model().initializer("w_scale", f32({}, {any_scale(c.dice())}));
  c.model().initializer("w_zero", s8({}, {0})).initializer("bias", f32({8}, std::vector<float>(8)));
  c.model().node("DequantizeLinear", {"w", "w_scale", "w_zero"}, {"wf"});
  c.model().node("Conv", {"xf", "wf", "bias"}, {"yf"});
  std::vector<std::string> names{"yf"};
  append(names, c.parameters("y", far_from(c.dice(), x)));
  c.model().node("QuantizeLinear", names, {"y"});
  return c.finish("Conv of floats");
}

Case average(ScaleCase& c) {
  const bool global = c.dice().one_in(3);
  const float x = any_scale(c.dice());
  std::vector<std::string> names = c.quantized("x", x, kImage);
  append(names, c.parameters("y", far_from(c.dice(), x)));
  if (global) {
    c.model().node("QLinearGlobalAveragePool", names, {"y"}, {}, "com.microsoft");
    return c.finish("QLinearGlobalAveragePool");
  }
  const std::int64_t counted = c.dice().between(0, 1);
  c.model().node(
      "QLinearAveragePool", names, {"y"},
      {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{1, 1, 1, 0}}, {"count_include_pad", counted}},
      "com.microsoft");
  return c.finish("QLinearAveragePool");
}

std::vector<float> extreme_floats() {
  std::vector<float> out;
  for (const float size :
       {0.0F, 1e-45F, 1e-38F, 1e-10F, 0.5F, 1.5F, 127.5F, 255.5F, 3e4F, 1e6F, 2147483520.0F,
        kTwoTo31, 4.3e9F, 9.2e18F, 1e19F, 1e30F, kMost, kInfinity}) {
    out.push_back(size);
    out.push_back(-size);
  }
  out.push_back(std::numeric_limits<float>::quiet_NaN());
  return out;
}

Tensor extreme_tensor() {
  const std::vector<float> values = extreme_floats();
  return f32({static_cast<std::int64_t>(values.size())}, values);
}

Case quantize(ScaleCase& c) {
  c.input("x", extreme_tensor());
  std::vector<std::string> names{"x"};
  append(names, c.parameters("y", any_scale(c.dice())));
  c.model().node("QuantizeLinear", names, {"y"});
  return c.finish("QuantizeLinear");
}

Case quantize_dynamically(ScaleCase& c) {
  std::vector<float> values = extreme_floats();
  const auto first = c.dice().between(0, 12), last = c.dice().between(14, 37);
  values = {values.begin() + first, values.begin() + last};
  c.input("x", f32({static_cast<std::int64_t>(values.size())}, values));
  c.model().node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
  c.model().output("scale").output("zero");
  return c.finish(cat("DynamicQuantizeLinear of ", first, " to ", last));
}

Case cast(ScaleCase& c) {
  constexpr std::int64_t kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kInt64 = 7;
  const auto to = c.dice().pick<std::int64_t>({kUint8, kInt8, kUint16, kInt16, kInt32, kInt64});
  c.input("x", extreme_tensor());
  c.model().node("Cast", {"x"}, {"y"}, {{"to", to}});
  return c.finish(cat("Cast to ", to));
}

// Folded when compiling.
Case folded_cast(ScaleCase& c) {
  constexpr std::int64_t kInt32 = 6, kInt64 = 7;
  const std::int64_t to = c.dice().one_in(2) ? kInt32 : kInt64;
  c.model().initializer("constant", extreme_tensor());
  c.model().node("Cast", {"constant"}, {"v"}, {{"to", to}});
  Tensor x(to == kInt32 ? DType::kS32 : DType::kS64, {1});
  c.input("x", x);
  c.model().node("Add", {"v", "x"}, {"y"});
  return c.finish(cat("a constant Cast to ", to));
}

Case matrices(ScaleCase& c) {
  const float a = any_scale(c.dice());
  std::vector<std::string> names = c.quantized("a", a, {3, 7});
  c.model().initializer("b", weights(c.dice(), {7, 9}));
  c.model().initializer("b_scale", f32({}, {c.dice().one_in(2) ? 1 : any_scale(c.dice())}));
  c.model().initializer("b_zero", s8({}, {0}));
  append(names, {"b", "b_scale", "b_zero"});
  append(names, c.parameters("y", far_from(c.dice(), a)));
  c.model().node("QLinearMatMul", names, {"y"});
  return c.finish("QLinearMatMul");
}

Case joined(ScaleCase& c) {
  const float y = any_scale(c.dice());
  std::vector<std::string> names = c.parameters("y", y);
  append(names, c.quantized("a", far_from(c.dice(), y), kRow));
  append(names, c.quantized("b", far_from(c.dice(), y), kRow));
  const std::int64_t axis = 1;
  c.model().node("QLinearConcat", names, {"y"}, {{"axis", axis}}, "com.microsoft");
  return c.finish("QLinearConcat");
}

Case activation(ScaleCase& c) {
  const float x = any_scale(c.dice());
  std::vector<std::string> names = c.quantized("a", x, kRow);
  append(names, c.parameters("y", far_from(c.dice(), x)));
  if (c.dice().one_in(2)) {
    c.model().node("QLinearSigmoid", names, {"y"}, {}, "com.microsoft");
    return c.finish("QLinearSigmoid");
  }
  c.model().node("QLinearLeakyRelu", names, {"y"}, {{"alpha", any_scale(c.dice())}},
                 "com.microsoft");
  return c.finish("QLinearLeakyRelu");
}

// A function between DequantizeLinear and QuantizeLinear: a table made when compiling.
Case function(ScaleCase& c) {
  const float x = any_scale(c.dice());
  c.model().node("DequantizeLinear", c.quantized("a", x, kRow), {"af"});
  const auto op = c.dice().pick<std::string>({"Relu", "Exp", "Neg", "Sqrt", "Reciprocal", "Floor"});
  c.model().node(op, {"af"}, {"yf"});
  std::vector<std::string> names{"yf"};
  append(names, c.parameters("y", far_from(c.dice(), x)));
  c.model().node("QuantizeLinear", names, {"y"});
  return c.finish(cat(op, " of floats"));
}

using Maker = Case (*)(ScaleCase&);
constexpr Maker kMakers[] = {any_binary, fused_residual,       average,        any_convolution,
                             quantize,   run_time_binary,      residual,       cast,
                             matrices,   quantize_dynamically, joined,         activation,
                             function,   any_binary,           fused_residual, folded_cast};
constexpr Maker kGroupMakers[] = {float_binary, float_convolution};

template <std::size_t N>
Case made_by(const Maker (&makers)[N], int index) {
  ScaleCase c(index);
  Case out = makers[static_cast<std::size_t>(index) % N](c);
  out.name = cat(index, ": ", out.name);
  return out;
}

}  // namespace

int extreme_scale_kinds() { return static_cast<int>(std::size(kMakers)); }

Case extreme_scales(int index) { return made_by(kMakers, index); }
Case extreme_float_groups(int index) { return made_by(kGroupMakers, index); }

std::vector<Case> scales_around_int32() {
  std::vector<Case> out;
  int index = 1'000'000;
  const float limit = kTwoTo31 / 255;
  for (const float ratio : {limit / 2, std::nextafter(limit, 0.0F), limit,
                            std::nextafter(limit, kMost), 2 * limit, 1e30F}) {
    ScaleCase add(index++), product(index++), pool(index++);
    out.push_back(binary(add, "QLinearAdd", ratio, 1, 1));
    out.push_back(binary(product, "QLinearMul", ratio / 255, 1, 1));
    std::vector<std::string> names = pool.quantized("x", ratio, kImage);
    append(names, pool.parameters("y", 1));
    pool.model().node("QLinearAveragePool", names, {"y"}, {{"kernel_shape", Ints{2, 2}}},
                      "com.microsoft");
    out.push_back(pool.finish("QLinearAveragePool"));
  }
  return out;
}

}  // namespace etch
