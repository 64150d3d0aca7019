// See table_cases.h.
#include "tests/support/table_cases.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/reference_math.h"
#include "tests/support/conv_node.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

QuantizedActivation any_activation(Dice& dice, DType type) {
  const auto scale = static_cast<float>(dice.between(1000, 90000)) * 1e-6F;
  return {type, dice.one_in(3) ? 0.0625F : scale, any_zero_point(dice, type)};
}

Shape any_table_shape(Dice& dice) {
  Shape out;
  const std::int64_t rank = dice.between(0, 4);
  for (std::int64_t d = 0; d < rank; ++d) out.push_back(dice.one_in(4) ? 1 : dice.between(2, 9));
  return out;
}

ModelBuilder empty_model() {
  ModelBuilder model(14);
  model.opset("com.microsoft", 1);
  return model;
}

Case activation_table(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const DType type = any_8bit(dice);
  const Shape shape = any_table_shape(dice);
  const auto op = dice.pick<std::string>({"QLinearSigmoid", "QLinearLeakyRelu"});
  model.input("x", type, declared_dims(shape));
  add_activation(model, "xq", any_activation(dice, type));
  add_activation(model, "yq", any_activation(dice, type));
  model.node(op, {"x", "xq_scale", "xq_zero_point", "yq_scale", "yq_zero_point"}, {"y"}, {},
             "com.microsoft");
  if (op == "QLinearLeakyRelu") {
    auto& alpha = *model.last_node().add_attribute();
    alpha.set_name("alpha");
    alpha.set_type(onnx::AttributeProto::FLOAT);
    alpha.set_f(0.3F);
  }
  model.output("y");
  return {
      cat(op, "_", index, "_", to_string(shape)), model.bytes(), {random_bytes(dice, type, shape)}};
}

Shape table_along(Dice& dice, Shape shape) {
  for (std::int64_t& size : shape) size = dice.one_in(3) ? 1 : size;
  const auto drop = dice.one_in(2) ? 0 : dice.between(0, static_cast<std::int64_t>(shape.size()));
  shape.erase(shape.begin(), shape.begin() + drop);
  return shape;
}

Case quantized_choice(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const DType type = any_8bit(dice);
  const Shape shape = any_table_shape(dice);
  Case out{cat("QLinearWhere_", index, "_", to_string(shape)), "", {}};
  const auto add = [&](const std::string& name, DType element) {
    const Shape own = table_along(dice, shape);
    Tensor tensor = element == DType::kBool ? Tensor(element, own) : random_bytes(dice, type, own);
    if (element == DType::kBool) {
      for (std::byte& b : tensor.mutable_bytes()) b = static_cast<std::byte>(dice.between(0, 1));
    }
    if (dice.one_in(4) && name != "x") {
      model.initializer(name, tensor);
      return;
    }
    model.input(name, element, declared_dims(own));
    out.inputs.push_back(tensor);
  };
  add("c", DType::kBool);
  add("x", type);
  add("y", type);
  const QuantizedActivation x = any_activation(dice, type), z = any_activation(dice, type);
  add_activation(model, "xq", x);
  add_activation(model, "yq", dice.one_in(2) ? z : any_activation(dice, type));
  add_activation(model, "zq", z);
  model.node("QLinearWhere",
             {"c", "x", "xq_scale", "xq_zero_point", "y", "yq_scale", "yq_zero_point", "zq_scale",
              "zq_zero_point"},
             {"z"}, {}, "com.microsoft");
  model.output("z");
  out.model = model.bytes();
  return out;
}

// Appends one operator to the float value `now`; `first` is what the chain began with.
std::string append_function(ModelBuilder& model, Dice& dice, const std::string& now,
                            const std::string& first, int step) {
  const std::string next = cat("f", step), constant = cat("k", step);
  const auto op = dice.pick<std::string>(
      {"Relu", "LeakyRelu", "Sigmoid", "Clip", "Round", "Cast", "Mul", "Add", "Sub", "Div", "Max",
       "MulFirst", "Tanh", "HardSwish", "HardSigmoid", "Exp", "Erf", "Floor", "Pow"});
  if (op == "MulFirst") {
    model.node("Mul", {dice.one_in(2) ? now : first, first}, {next});
  } else if (op == "Clip") {
    model.initializer(constant, Tensor::of<float>({}, {-0.7F}));
    model.node(op, {now, constant}, {next});
  } else if (op == "Cast") {
    model.node(op, {now}, {next}, {{"to", std::int64_t{1}}});
  } else if (op == "Pow") {
    model.initializer(constant, Tensor::of<float>({}, {2.0F}));
    model.node(op, {now, constant}, {next});
  } else if (op.size() > 3 || op == "Exp" || op == "Erf") {
    model.node(op, {now}, {next});
  } else {
    const auto value = static_cast<float>(dice.between(-3000, 3000)) * 0.001F + 0.0001F;
    const Shape scalar = dice.one_in(2) ? Shape{} : Shape{1};
    model.initializer(constant, Tensor::of<float>(scalar, {value}));
    const bool left = dice.one_in(2);
    model.node(op, {left ? constant : now, left ? now : constant}, {next});
  }
  return next;
}

void add_convolution(ModelBuilder& model, Dice& dice, const QuantizedActivation& x,
                     const Shape& shape) {
  ConvShape conv;
  conv.in_per_group = shape[1];
  conv.out_per_group = dice.between(1, 6);
  conv.in = {shape[2], shape[3]};
  conv.kernel = {3, 3};
  conv.stride = conv.dilation = conv.pad_begin = conv.pad_end = {1, 1};
  const ConvNode node(conv, x, Scaling::kTypical, dice);
  node.add(model, "q", "z", "z_");
  model.output("z");
}

Case float_chain(int index, Dice& dice) {
  ModelBuilder model = empty_model();
  const DType type = any_8bit(dice);
  const bool convolved = dice.one_in(2);
  const Shape shape =
      convolved ? Shape{1, dice.between(1, 9), dice.between(2, 7), 5} : any_table_shape(dice);
  model.input("x", type, declared_dims(shape));
  add_activation(model, "xq", any_activation(dice, type));
  model.node("DequantizeLinear", {"x", "xq_scale", "xq_zero_point"}, {"f"});
  std::string now = "f";
  const std::int64_t length = dice.between(1, 4);
  for (int step = 0; step < length; ++step) now = append_function(model, dice, now, "f", step);
  const QuantizedActivation y = any_activation(dice, any_8bit(dice));
  add_activation(model, "yq", y);
  model.node("QuantizeLinear", {now, "yq_scale", "yq_zero_point"}, {"q"});
  if (dice.one_in(2) || !convolved) model.output("q");
  if (convolved) add_convolution(model, dice, y, shape);
  return {cat("chain_", index, "_", to_string(shape)),
          model.bytes(),
          {random_bytes(dice, type, shape)}};
}

void set_integer(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

// The same convolution with limits; nothing if it is of another kind.
Case limited(const Case& each, Dice& dice) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(each.model)) << each.name;
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  if (node.op_type() != "QLinearConv" || !node.domain().empty()) return each;
  const auto zero = std::ranges::find_if(model.graph().initializer(), [&](const auto& constant) {
    return constant.name() == node.input(7);
  });
  const bool is_signed = zero->data_type() == onnx::TensorProto::INT8;
  const std::int64_t least = is_signed ? -128 : 0;
  const std::int64_t low = dice.one_in(3) ? least : least + dice.between(0, 160);
  node.set_domain("org.etch");
  set_integer(node, "clamp_low", low);
  set_integer(node, "clamp_high", dice.one_in(3) ? least + 255 : dice.between(low, least + 255));
  auto& opset = *model.add_opset_import();
  opset.set_domain("org.etch");
  opset.set_version(1);
  return {each.name + "_limited", model.SerializeAsString(), each.inputs};
}

}  // namespace

std::vector<Case> activation_tables(int count) { return dealt(count, 11, activation_table); }
std::vector<Case> tables_of_every_byte() {
  std::vector<Case> out;
  for (const std::int64_t n : {15, 33, 64, 127, 256 + 64 + 31}) {
    ModelBuilder model = empty_model();
    model.input("x", DType::kU8, {n});
    model.initializer("x_scale", Tensor::of<float>({}, {0.04F}));
    model.initializer("y_scale", Tensor::of<float>({}, {1.0F / 256}));
    model.initializer("zero", Tensor::of<std::uint8_t>({}, {128}));
    model.initializer("none", Tensor::of<std::uint8_t>({}, {0}));
    model.node("QLinearSigmoid", {"x", "x_scale", "zero", "y_scale", "none"}, {"y"}, {},
               "com.microsoft");
    std::vector<std::uint8_t> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(77 * i);
    out.push_back({cat("every_byte_", n), model.output("y").bytes(), {Tensor::of({n}, x)}});
  }
  return out;
}

std::vector<Case> quantized_choices(int count) { return dealt(count, 12, quantized_choice); }
std::vector<Case> float_chains(int count) { return dealt(count, 13, float_chain); }

std::vector<Case> limited_convolutions(int every) {
  Dice dice(14);
  std::vector<Case> out;
  for (const Case& each : small_plane_convolutions(every)) out.push_back(limited(each, dice));
  return out;
}

namespace {

// Every second result is a tie: y = x / 2.
Case halves() {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 8, 4, 4});
  std::vector<std::int8_t> weights(8 * 8);
  for (std::size_t c = 0; c < 8; ++c) weights[9 * c] = 1;
  model.initializer("w", Tensor::of<std::int8_t>({8, 8, 1, 1}, weights));
  model.initializer("one", Tensor::of<float>({}, {1.0F}));
  model.initializer("two", Tensor::of<float>({}, {2.0F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {0}));
  model.initializer("w_zero", Tensor::of<std::int8_t>({}, {0}));
  model.node("QLinearConv", {"x", "one", "zero", "w", "one", "w_zero", "two", "zero"}, {"y"});
  model.output("y");
  std::vector<std::uint8_t> x(8 * 16);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i);
  return {"halves", model.bytes(), {Tensor::of<std::uint8_t>({1, 8, 4, 4}, x)}};
}

}  // namespace

std::vector<Case> scaled_convolutions() {
  Dice dice(15);
  std::vector<Case> out = {halves()};
  for (const Scaling scaling :
       {Scaling::kTypical, Scaling::kTies, Scaling::kSaturating, Scaling::kHuge}) {
    for (const bool depthwise : {false, true}) {
      ConvShape shape;
      shape.group = depthwise ? 8 : 1;
      shape.in_per_group = depthwise ? 1 : 8;
      shape.out_per_group = depthwise ? 1 : 12;
      shape.in = {5, 6};
      shape.kernel = depthwise ? Shape{3, 3} : Shape{1, 1};
      shape.stride = shape.dilation = {1, 1};
      shape.pad_begin = shape.pad_end = {0, 0};
      out.push_back(conv_case(shape, scaling, cat("scaled_", out.size()), dice));
      out.push_back(limited(out.back(), dice));
    }
  }
  return out;
}

}  // namespace etch
