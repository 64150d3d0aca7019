// See row_cases.h.
#include "tests/support/row_cases.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/tensor_data.h"
#include "compiler/ops/reference_math.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"
#include "tests/support/run_time_cases.h"

namespace etch {

namespace {

enum class Special { kNone, kInfinite, kNan };

Tensor random_floats(Dice& dice, Shape shape, Special special, float unit = 0.25F) {
  Tensor out(DType::kF32, std::move(shape));
  for (float& x : out.as<float>()) {
    x = static_cast<float>(dice.between(-2000, 2000)) * unit;
    if (special != Special::kNone && dice.one_in(9)) x = dice.one_in(2) ? INFINITY : -INFINITY;
    if (dice.one_in(9)) x = std::ldexp(x, static_cast<int>(dice.between(-60, 60)));
    if (dice.one_in(15)) x = -0.0F;
    if (special == Special::kNan && dice.one_in(9)) x = std::numeric_limits<float>::quiet_NaN();
  }
  return out;
}

Tensor random_integers(Dice& dice, DType type, Shape shape) {
  Tensor out(type, std::move(shape));
  for (std::byte& byte : out.mutable_bytes()) {
    byte = static_cast<std::byte>(type == DType::kBool ? dice.between(0, 1) : dice.between(0, 255));
  }
  return out;
}

Tensor random_tensor(Dice& dice, DType type, Shape shape, Special special) {
  if (type == DType::kF32) return random_floats(dice, std::move(shape), special);
  return random_integers(dice, type, std::move(shape));
}

Shape any_row_shape(Dice& dice, std::int64_t least_rank, std::int64_t most_rank) {
  Shape out;
  const std::int64_t rank = dice.between(least_rank, most_rank);
  for (std::int64_t d = 0; d < rank; ++d) out.push_back(dice.one_in(4) ? 1 : dice.between(2, 6));
  return out;
}

// `shape` with some dimensions of size 1 or, at the front, absent.
Shape broadcastable(Dice& dice, Shape shape) {
  for (std::int64_t& size : shape) size = dice.one_in(3) ? 1 : size;
  const auto drop = dice.one_in(2) ? 0 : dice.between(0, static_cast<std::int64_t>(shape.size()));
  shape.erase(shape.begin(), shape.begin() + drop);
  return shape;
}

Case finished(ModelBuilder& model, const std::string& what, int index, std::vector<Tensor> inputs) {
  model.output("y");
  return {cat(what, "_", index), model.bytes(), std::move(inputs)};
}

Case arithmetic_case(int index, Dice& dice) {
  const auto op = dice.pick<std::string>({"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "Mean"});
  const DType type = op == "Mean" || dice.one_in(2)
                         ? DType::kF32
                         : dice.pick<DType>({DType::kS32, DType::kS64, DType::kU8, DType::kS8,
                                             DType::kU16, DType::kS16});
  const Shape shape = any_row_shape(dice, 0, 4);
  Tensor a = random_tensor(dice, type, shape, Special::kInfinite);
  Tensor b = random_tensor(dice, type, broadcastable(dice, shape), Special::kInfinite);
  if (dice.one_in(2)) std::swap(a, b);
  ModelBuilder model(13);
  model.input("a", type, declared_dims(a.shape()));
  std::vector<Tensor> inputs{a};
  const std::vector<std::int64_t> divisors =
      type == DType::kF32 ? std::vector<std::int64_t>{1} : b.integers();
  const bool zero = std::find(divisors.begin(), divisors.end(), 0) != divisors.end();
  if (dice.one_in(2) && !zero) {
    model.initializer("b", b);
  } else {
    model.input("b", type, declared_dims(b.shape()));
    inputs.push_back(b);
  }
  std::map<std::string, Attribute> attributes;
  if (op == "Mod") attributes["fmod"] = type == DType::kF32 ? 1 : dice.between(0, 1);
  model.node(op, {"a", "b"}, {"y"}, attributes);
  return finished(model, op, index, std::move(inputs));
}

Case map_case(int index, Dice& dice) {
  const auto op = dice.pick<std::string>({"Relu", "LeakyRelu", "Sigmoid", "Round", "Clip"});
  const bool clip = op == "Clip";
  const DType type =
      clip ? dice.pick<DType>({DType::kF32, DType::kS32, DType::kU8, DType::kS8}) : DType::kF32;
  const Shape shape = any_row_shape(dice, 0, 4);
  ModelBuilder model(13);
  model.input("x", type, declared_dims(shape));
  std::vector<std::string> names{"x"};
  if (clip) {
    const auto limit = [&](const std::string& name, int value) {
      const bool given = dice.one_in(2);
      names.push_back(given ? name : "");
      if (!given) return;
      model.initializer(name, type == DType::kF32
                                  ? Tensor::of<float>({}, {0.25F * static_cast<float>(value)})
                                  : narrowed(type, {}, {value}));
    };
    limit("low", static_cast<int>(dice.between(0, 60)));
    limit("high", static_cast<int>(dice.between(40, 127)));
  }
  model.node(op, names, {"y"});
  return finished(model, op, index, {random_tensor(dice, type, shape, Special::kNan)});
}

Case integer_function_case(int index, Dice& dice) {
  const auto op = dice.pick<std::string>({"Relu", "Abs", "Neg", "Sign"});
  const DType type = dice.pick<DType>({DType::kS8, DType::kS16, DType::kS32, DType::kS64});
  const Shape shape = any_row_shape(dice, 0, 4);
  Tensor x = random_integers(dice, type, shape);
  // The least integer, which has no negative.
  if (x.size() > 0 && dice.one_in(2)) {
    const auto size = static_cast<std::size_t>(bytes_of(type));
    for (std::size_t i = 0; i < size; ++i) x.mutable_bytes()[i] = std::byte{0};
    x.mutable_bytes()[size - 1] = std::byte{128};
  }
  ModelBuilder model(14);
  model.input("x", type, declared_dims(shape));
  model.node(op, {"x"}, {"y"});
  return finished(model, op, index, {x});
}

Case cast_case(int index, Dice& dice) {
  const std::vector<DType> types{DType::kF32, DType::kBool, DType::kU8,  DType::kS8,
                                 DType::kU16, DType::kS16,  DType::kS32, DType::kS64};
  const DType from = dice.pick(types);
  const DType to = dice.pick(types);
  const Shape shape = any_row_shape(dice, 0, 4);
  ModelBuilder model(13);
  model.input("x", from, declared_dims(shape));
  model.node("Cast", {"x"}, {"y"}, {{"to", std::int64_t{onnx_number_of(to)}}});
  return finished(model, cat("Cast_", name_of(from), "_", name_of(to)), index,
                  {random_tensor(dice, from, shape, Special::kNan)});
}

Case window_case(int index, Dice& dice) {
  const auto op = dice.pick<std::string>(
      {"MaxPool", "ReduceMean", "ReduceMax", "ReduceMin", "GlobalAveragePool", "GlobalMaxPool"});
  Shape shape{dice.between(1, 2), dice.between(1, 5), dice.between(3, 8)};
  if (dice.one_in(2)) shape.push_back(dice.between(3, 8));
  std::map<std::string, Attribute> attributes;
  if (op == "MaxPool") {
    const std::size_t rank = shape.size() - 2;
    attributes["kernel_shape"] = Ints(rank, dice.between(1, 3));
    attributes["strides"] = Ints(rank, dice.between(1, 3));
    if (dice.one_in(2)) attributes["auto_pad"] = std::string("SAME_UPPER");
  } else if (op[0] == 'R') {
    Ints axes;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (dice.one_in(2)) axes.push_back(static_cast<std::int64_t>(d));
    }
    if (!axes.empty()) attributes["axes"] = axes;
    attributes["keepdims"] = dice.between(0, 1);
  }
  ModelBuilder model(13);
  model.input("x", DType::kF32, declared_dims(shape));
  model.node(op, {"x"}, {"y"}, attributes);
  return finished(model, op, index, {random_floats(dice, shape, Special::kInfinite)});
}

struct Granularity {
  Shape parameters;
  std::map<std::string, Attribute> attributes;
};

Granularity any_granularity(Dice& dice, const Shape& shape) {
  Granularity out;
  if (shape.empty() || dice.one_in(3)) return out;
  const std::int64_t axis = dice.between(0, static_cast<std::int64_t>(shape.size()) - 1);
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  out.attributes["axis"] = axis;
  out.parameters = {size};
  if (dice.one_in(2)) return out;
  const std::int64_t block = dice.between(1, size);
  out.attributes["block_size"] = block;
  out.parameters = shape;
  out.parameters[static_cast<std::size_t>(axis)] = (size + block - 1) / block;
  return out;
}

Case quantization_case(int index, Dice& dice) {
  const Shape shape = any_row_shape(dice, 0, 4);
  const bool quantize = dice.one_in(2);
  std::vector<DType> types{DType::kU8, DType::kS8, DType::kU16, DType::kS16};
  if (!quantize) types.push_back(DType::kS32);
  const DType type = dice.pick(types);
  const Granularity how = any_granularity(dice, shape);
  Tensor scale(DType::kF32, how.parameters);
  for (float& s : scale.as<float>()) {
    const auto drawn = static_cast<int>(dice.between(1, 40));
    // Of a third all are powers of two, whose quotients are products.
    s = index % 3 == 0 ? std::ldexp(1.0F, drawn % 8 - 4) : 0.125F * static_cast<float>(drawn);
  }
  ModelBuilder model(21);
  model.input("x", quantize ? DType::kF32 : type, declared_dims(shape));
  model.initializer("scale", scale);
  const bool has_zero = dice.one_in(2) || quantize;
  if (has_zero) model.initializer("zero", random_integers(dice, type, how.parameters));
  model.node(quantize ? "QuantizeLinear" : "DequantizeLinear",
             {"x", "scale", has_zero ? "zero" : ""}, {"y"}, how.attributes);
  const Tensor x = random_tensor(dice, quantize ? DType::kF32 : type, shape, Special::kNan);
  const Case made =
      finished(model, cat(quantize ? "quantize_" : "dequantize_", name_of(type)), index, {x});
  return with_run_time_arguments(made, static_cast<int>(dice.between(1, 3)), dice);
}

}  // namespace

std::vector<Case> arithmetic_cases(int count) { return dealt(count, 1, arithmetic_case); }
std::vector<Case> map_cases(int count) { return dealt(count, 2, map_case); }
std::vector<Case> integer_function_cases(int count) {
  return dealt(count, 6, integer_function_case);
}
std::vector<Case> cast_cases(int count) { return dealt(count, 3, cast_case); }
std::vector<Case> float_window_cases(int count) { return dealt(count, 4, window_case); }
std::vector<Case> quantization_cases(int count) { return dealt(count, 5, quantization_case); }

}  // namespace etch
