// See float_cases.h. Data without NaN and infinities: which of two NaN is kept is not fixed.
#include "tests/support/float_cases.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

// All 24 bits in use, in a range where sums lose some of them.
Tensor rough_floats(Dice& dice, Shape shape) {
  Tensor out(DType::kF32, std::move(shape));
  for (float& x : out.as<float>()) {
    x = std::ldexp(static_cast<float>(dice.between(-16777215, 16777215)), -22);
    if (dice.one_in(12)) x = std::ldexp(x, static_cast<int>(dice.between(-12, 12)));
    if (dice.one_in(15)) x = dice.one_in(2) ? 0.0F : -0.0F;
  }
  return out;
}

// A model of one node in the making.
class OneNodeOfFloats {
 public:
  OneNodeOfFloats(Dice& dice, std::int64_t opset) : dice_(dice), model_(opset) {}

  void input(const std::string& name, Tensor tensor) {
    model_.input(name, tensor.dtype(), declared_dims(tensor.shape()));
    names_.push_back(name);
    inputs_.push_back(std::move(tensor));
  }
  void constant(const std::string& name, const Tensor& tensor) {
    model_.initializer(name, tensor);
    names_.push_back(name);
  }
  void omitted() { names_.emplace_back(); }
  void before_relu() { relu_ = true; }
  void before_relu6() { most_ = 6; }
  void mostly_constant(const std::string& name, Tensor tensor) {
    if (dice_.one_in(4)) {
      input(name, std::move(tensor));
    } else {
      constant(name, tensor);
    }
  }
  Case finish(const std::string& op, const std::map<std::string, Attribute>& attributes,
              std::string name, const std::string& domain = "") {
    if (!domain.empty()) model_.opset(domain, 1);
    const bool is_last = !relu_ && most_ == 0;
    model_.node(op, names_, {is_last ? "y" : "x_relu"}, attributes, domain);
    if (relu_) model_.node("Relu", {"x_relu"}, {"y"});
    if (most_ != 0) {
      model_.initializer("low", Tensor::of<float>({}, {0}));
      model_.initializer("high", Tensor::of<float>({}, {most_}));
      model_.node("Clip", {"x_relu", "low", "high"}, {"y"});
    }
    model_.output("y");
    return {std::move(name), model_.bytes(), std::move(inputs_)};
  }

 private:
  Dice& dice_;
  ModelBuilder model_;
  std::vector<std::string> names_;
  std::vector<Tensor> inputs_;
  bool relu_ = false;
  float most_ = 0;
};

struct Channels {
  std::int64_t group = 1, in = 1, out = 1;  // in and out: per group
};

Channels any_channels(Dice& dice) {
  Channels c;
  const std::int64_t kind = dice.between(0, 3);
  if (kind == 0) {
    c.group = dice.between(2, 90);  // depthwise
  } else if (kind == 1) {
    c = {dice.between(2, 4), dice.between(1, 4), dice.between(1, 20)};
  } else {
    c = {1, dice.between(1, 9), dice.between(1, dice.one_in(3) ? 150 : 40)};
  }
  return c;
}

Case convolution(int index, Dice& dice) {
  const bool transposed = dice.one_in(3);
  const bool apart = transposed && index % 2 == 0;  // no two taps meet
  const auto rank = static_cast<std::size_t>(dice.between(1, 3));
  const Channels c = any_channels(dice);
  Shape x{dice.between(1, 2), c.group * c.in};
  Shape w = transposed ? Shape{c.group * c.in, c.out} : Shape{c.group * c.out, c.in};
  Ints strides, dilations, pads(2 * rank);
  for (std::size_t a = 0; a < rank; ++a) {
    const std::int64_t kernel = dice.between(1, rank == 3 ? 2 : 4);
    dilations.push_back(dice.one_in(4) ? 2 : 1);
    strides.push_back(dice.between(1, 3));
    if (apart) dilations.back() = 1, strides.back() = kernel;
    const std::int64_t span = (kernel - 1) * dilations.back() + 1;
    x.push_back(dice.between(span, span + (rank == 1 ? 20 : 6)));
    w.push_back(kernel);
    const std::int64_t most =
        apart ? 0 : (transposed ? std::min<std::int64_t>(kernel - 1, 1) : kernel);
    pads[a] = dice.between(0, most);
    pads[a + rank] = dice.between(0, most);
    if (transposed && (x.back() - 1) * strides.back() + span <= pads[a] + pads[a + rank])
      pads[a] = pads[a + rank] = 0;
  }
  OneNodeOfFloats node(dice, 13);
  node.input("x", rough_floats(dice, x));
  node.mostly_constant("w", rough_floats(dice, w));
  if (dice.one_in(2)) node.mostly_constant("b", rough_floats(dice, {c.group * c.out}));
  if (index % 3 == 0) node.before_relu();
  if (index % 3 == 1) node.before_relu6();
  return node.finish(
      transposed ? "ConvTranspose" : "Conv",
      {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", c.group}},
      cat(transposed ? "ConvTranspose_" : "Conv_", index, "_", to_string(x), to_string(w)));
}

// A transposed convolution to few channels, with lines that fill vectors.
Case decoder(int index, Dice& dice) {
  const std::int64_t group = dice.one_in(4) ? 2 : 1, out = dice.between(1, 3);
  const std::int64_t in = dice.between(8, 24), kernel = dice.between(2, 6);
  const std::int64_t stride = dice.between(1, 4), pad = dice.between(0, (kernel - 1) / 2);
  const Shape x{1, group * in, dice.between(1, 4), dice.between(5, 40)};
  OneNodeOfFloats node(dice, 13);
  node.input("x", rough_floats(dice, x));
  node.constant("w", rough_floats(dice, {group * in, out, kernel, kernel}));
  if (dice.one_in(2)) node.mostly_constant("b", rough_floats(dice, {group * out}));
  if (index % 3 == 0) node.before_relu();
  return node.finish("ConvTranspose",
                     {{"strides", Ints{stride, stride}},
                      {"pads", Ints{pad, pad, pad, pad}},
                      {"output_padding", Ints(2, dice.between(0, stride - 1))},
                      {"group", group}},
                     cat("ConvTranspose_to_few_", index, "_", to_string(x), "_", out));
}

Shape some_batch(Dice& dice, const Shape& batch) {
  Shape out = batch;
  for (std::int64_t& size : out) size = dice.one_in(3) ? 1 : size;
  const auto drop = dice.one_in(2) ? 0 : dice.between(0, static_cast<std::int64_t>(out.size()));
  out.erase(out.begin(), out.begin() + drop);
  return out;
}

Case matmul(int index, Dice& dice) {
  Shape batch;
  for (std::int64_t i = dice.between(0, 3); i > 0; --i) batch.push_back(dice.between(1, 3));
  const std::int64_t rows = dice.between(1, 9), depth = dice.between(1, 70);
  const std::int64_t cols = dice.between(1, dice.one_in(3) ? 150 : 40);
  Shape a = some_batch(dice, batch), b = some_batch(dice, batch);
  const bool is_row = a.empty() && dice.one_in(3);
  const bool is_column = b.empty() && dice.one_in(3);
  if (!is_row) a.push_back(rows);
  a.push_back(depth);
  b.push_back(depth);
  if (!is_column) b.push_back(cols);
  OneNodeOfFloats node(dice, 13);
  if (dice.one_in(8)) {
    node.constant("a", rough_floats(dice, a));
    node.input("b", rough_floats(dice, b));
  } else {
    node.input("a", rough_floats(dice, a));
    node.mostly_constant("b", rough_floats(dice, b));
  }
  return node.finish("MatMul", {}, cat("MatMul_", index, "_", to_string(a), to_string(b)));
}

Case gemm(int index, Dice& dice) {
  const std::int64_t rows = dice.between(1, 9), depth = dice.between(1, 70);
  const std::int64_t cols = dice.between(1, dice.one_in(3) ? 150 : 40);
  const std::int64_t a_turned = dice.between(0, 1), b_turned = dice.between(0, 1);
  std::map<std::string, Attribute> attributes{{"transA", a_turned}, {"transB", b_turned}};
  if (dice.one_in(2)) attributes["alpha"] = dice.one_in(2) ? 0.3F : -1.7F;
  if (dice.one_in(2)) attributes["beta"] = dice.one_in(2) ? 0.7F : 0.0F;
  OneNodeOfFloats node(dice, 13);
  node.input("a", rough_floats(dice, a_turned != 0 ? Shape{depth, rows} : Shape{rows, depth}));
  node.mostly_constant("b",
                       rough_floats(dice, b_turned != 0 ? Shape{cols, depth} : Shape{depth, cols}));
  if (!dice.one_in(4)) {
    const auto c = dice.pick<Shape>({{}, {1}, {cols}, {1, cols}, {rows, 1}, {rows, cols}});
    node.mostly_constant("c", rough_floats(dice, c));
  }
  return node.finish("Gemm", attributes, cat("Gemm_", index, "_", rows, "x", depth, "x", cols));
}

Tensor any_tensor(Dice& dice, DType type, const Shape& shape) {
  if (type == DType::kF32) return rough_floats(dice, shape);
  Tensor out(type, shape);
  for (std::byte& byte : out.mutable_bytes()) byte = static_cast<std::byte>(dice.between(0, 255));
  return out;
}

Shape image(Dice& dice) {
  Shape out{dice.between(1, 2), dice.between(1, 40)};
  for (std::int64_t rank = dice.between(1, 3); rank > 0; --rank) out.push_back(dice.between(3, 7));
  return out;
}

Case average_pool(int index, Dice& dice) {
  const Shape x = image(dice);
  const std::size_t rank = x.size() - 2;
  Ints kernel, strides, pads(2 * rank);
  for (std::size_t a = 0; a < rank; ++a) {
    kernel.push_back(dice.between(1, 3));
    strides.push_back(dice.between(1, 3));
    pads[a] = dice.between(0, kernel[a] - 1);
    pads[a + rank] = dice.between(0, kernel[a] - 1);
  }
  OneNodeOfFloats node(dice, 13);
  node.input("x", rough_floats(dice, x));
  return node.finish("AveragePool",
                     {{"kernel_shape", kernel},
                      {"strides", strides},
                      {"pads", pads},
                      {"ceil_mode", dice.between(0, 1)},
                      {"count_include_pad", dice.between(0, 1)}},
                     cat("AveragePool_", index, "_", to_string(x)));
}

Case prelu(int index, Dice& dice) {
  const Shape x = image(dice);
  Shape slope = x;
  for (std::int64_t& size : slope) size = dice.one_in(2) ? 1 : size;
  if (dice.one_in(2)) slope.erase(slope.begin());
  OneNodeOfFloats node(dice, 16);
  node.input("x", rough_floats(dice, x));
  node.mostly_constant("slope", rough_floats(dice, slope));
  return node.finish("PRelu", {}, cat("PRelu_", index, "_", to_string(x), to_string(slope)));
}

Case batch_normalization(int index, Dice& dice) {
  const Shape x = dice.one_in(8) ? Shape{5} : image(dice);
  const Shape channels{x.size() > 1 ? x[1] : 1};
  OneNodeOfFloats node(dice, 15);
  node.input("x", rough_floats(dice, x));
  for (const char* name : {"scale", "bias", "mean", "var"}) {
    Tensor values = rough_floats(dice, channels);
    if (std::string(name) == "var")
      for (float& v : values.as<float>()) v = std::fabs(v);
    node.constant(name, values);
  }
  return node.finish("BatchNormalization", {{"epsilon", 1e-3F}},
                     cat("BatchNormalization_", index, "_", to_string(x)));
}

// Reductions whose axes are an attribute, and positions of extremes.
Case reduction(int index, Dice& dice) {
  const auto op = dice.pick<std::string>(
      {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ArgMax", "ArgMin"});
  std::vector<DType> types{DType::kF32};
  if (op != "ReduceMean") types.insert(types.end(), {DType::kS32, DType::kS64});
  if (op != "ReduceMean" && op != "ReduceSum" && op != "ReduceProd")
    types.insert(types.end(), {DType::kU8, DType::kS8});
  const DType type = dice.pick(types);
  const Shape x = image(dice);
  std::map<std::string, Attribute> attributes{{"keepdims", dice.between(0, 1)}};
  if (op[0] == 'A') {
    attributes["axis"] = dice.between(0, static_cast<std::int64_t>(x.size()) - 1);
    attributes["select_last_index"] = dice.between(0, 1);
  } else {
    Ints axes;
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (dice.one_in(2)) axes.push_back(static_cast<std::int64_t>(d));
    }
    if (!axes.empty()) attributes["axes"] = axes;
  }
  OneNodeOfFloats node(dice, 12);
  Tensor values = any_tensor(dice, type, x);
  if (op[0] == 'A' && dice.one_in(2)) {  // few different values: ties
    for (std::byte& byte : values.mutable_bytes()) byte &= std::byte{3};
  }
  node.input("x", std::move(values));
  return node.finish(op, attributes, cat(op, "_", name_of(type), "_", index, "_", to_string(x)));
}

Case softmax(int index, Dice& dice) {
  const auto op = dice.pick<std::string>({"Softmax", "LogSoftmax"});
  const std::int64_t opset = dice.one_in(2) ? 11 : 13;
  Shape x = image(dice);
  for (std::int64_t drop = dice.between(0, 2); drop > 0; --drop) x.erase(x.begin());
  const auto rank = static_cast<std::int64_t>(x.size());
  OneNodeOfFloats node(dice, opset);
  node.input("x", rough_floats(dice, x));
  return node.finish(op, {{"axis", dice.between(-rank, rank - 1)}},
                     cat(op, opset, "_", index, "_", to_string(x)));
}

Case quantized_softmax(int index, Dice& dice) {
  const Shape x = image(dice);
  const auto rank = static_cast<std::int64_t>(x.size());
  const DType type = dice.one_in(2) ? DType::kU8 : DType::kS8;
  OneNodeOfFloats node(dice, 13);
  node.input("x", any_tensor(dice, type, x));
  node.constant("x_scale", Tensor::of<float>({}, {0.05F}));
  node.constant("x_zero", any_tensor(dice, type, {}));
  node.constant("y_scale", Tensor::of<float>({}, {dice.pick<float>({1.0F / 256, 1e-3F, 1e-38F})}));
  node.constant("y_zero", any_tensor(dice, type, {}));
  return node.finish(
      "QLinearSoftmax",
      {{"axis", dice.between(-rank, rank - 1)}, {"opset", std::int64_t{dice.one_in(2) ? 12 : 13}}},
      cat("QLinearSoftmax_", index, "_", to_string(x)), "com.microsoft");
}

Case lrn(int index, Dice& dice) {
  const Shape x = image(dice);
  OneNodeOfFloats node(dice, 13);
  node.input("x", rough_floats(dice, x));
  return node.finish("LRN",
                     {{"size", dice.between(1, 6)},
                      {"alpha", 0.3F},
                      {"beta", dice.one_in(2) ? 0.75F : 0.6F},
                      {"bias", 1.5F}},
                     cat("LRN_", index, "_", to_string(x)));
}

Case normalization(int index, Dice& dice) {
  const bool layer = dice.one_in(2);
  const Shape x = image(dice);
  const auto axis = layer ? dice.between(0, static_cast<std::int64_t>(x.size()) - 1) : 1;
  const Shape scale = layer ? Shape(x.begin() + axis, x.end()) : Shape{x[1]};
  OneNodeOfFloats node(dice, 17);
  if (dice.one_in(10)) {
    node.constant("x", rough_floats(dice, x));
    node.input("scale", rough_floats(dice, scale));
  } else {
    node.input("x", rough_floats(dice, x));
    node.mostly_constant("scale", rough_floats(dice, scale));
  }
  if (!layer || dice.one_in(2)) node.mostly_constant("bias", rough_floats(dice, scale));
  std::map<std::string, Attribute> attributes{{"epsilon", 1e-3F}};
  if (layer) attributes["axis"] = axis;
  const std::string op = layer ? "LayerNormalization" : "InstanceNormalization";
  return node.finish(op, attributes, cat(op, "_", index, "_", to_string(x)));
}

// x [1, channels, length] through `op`, then a convolution along the length.
Case row_before_convolution(int index, Dice& dice) {
  const std::int64_t channels = dice.between(2, 6), length = dice.between(3, 9);
  const std::int64_t columns = dice.between(2, 9);
  const auto op = dice.pick<std::string>({"MatMul", "Softmax", "MatMulInteger", "QLinearMatMul"});
  const bool quantized = op == "QLinearMatMul";
  const DType type = op == "MatMul" || op == "Softmax" ? DType::kF32 : DType::kU8;
  const Shape x{1, channels, length};
  ModelBuilder model(13);
  model.input("x", type, declared_dims(x));
  model.initializer("b", any_tensor(dice, type, {length, columns}));
  model.initializer("scale", Tensor::of<float>({}, {0.25F}));
  model.initializer("big", Tensor::of<float>({}, {64}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {7}));
  model.initializer("w", any_tensor(dice, quantized ? DType::kU8 : DType::kF32, {3, channels, 3}));
  const std::map<std::string, Attribute> padded{{"pads", Ints{1, 1}}};
  if (quantized) {
    model.node(op, {"x", "scale", "zero", "b", "scale", "zero", "big", "zero"}, {"row"});
    model.node("QLinearConv", {"row", "big", "zero", "w", "scale", "zero", "big", "zero"}, {"y"},
               padded);
  } else {
    const bool integer = op == "MatMulInteger";
    model.node(op,
               op == "Softmax" ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "b"},
               {integer ? "sum" : "row"});
    if (integer) model.node("Cast", {"sum"}, {"row"}, {{"to", std::int64_t{1}}});
    model.node("Conv", {"row", "w"}, {"y"}, padded);
  }
  model.output("y");
  return {cat(op, "_before_convolution_", index), model.bytes(), {any_tensor(dice, type, x)}};
}

Case integer_to_float(int index, Dice& dice) {
  const bool dynamic = dice.one_in(2);
  const std::int64_t rows = dice.between(1, 9), depth = dice.between(1, 70);
  const std::int64_t cols = dice.between(1, 40);
  const auto bytes = [&] { return dice.one_in(2) ? DType::kU8 : DType::kS8; };
  const DType a = dynamic ? DType::kF32 : bytes();
  const DType b = bytes();
  const Shape per_column = dice.one_in(2) ? Shape{cols} : Shape{};
  const auto scales = [&](const Shape& shape) {
    Tensor out(DType::kF32, shape);
    for (float& s : out.as<float>()) s = static_cast<float>(dice.between(1000, 90000)) * 1e-6F;
    return out;
  };
  OneNodeOfFloats node(dice, 13);
  node.input("a", any_tensor(dice, a, dice.one_in(3) ? Shape{2, rows, depth} : Shape{rows, depth}));
  node.mostly_constant("b", any_tensor(dice, b, {depth, cols}));
  if (!dynamic) node.mostly_constant("a_scale", scales({}));
  node.mostly_constant("b_scale", scales(per_column));
  const bool zeros = dice.one_in(2);
  if (zeros) {
    if (!dynamic) node.mostly_constant("a_zero", any_tensor(dice, a, {}));
    node.mostly_constant("b_zero", any_tensor(dice, b, per_column));
  }
  if (dice.one_in(2)) {
    for (int i = zeros ? 0 : dynamic ? 1 : 2; i > 0; --i) node.omitted();
    node.mostly_constant("bias", rough_floats(dice, {cols}));
  }
  const char* op = dynamic ? "DynamicQuantizeMatMul" : "MatMulIntegerToFloat";
  return node.finish(op, {}, cat(op, "_", index, "_", rows, "x", depth, "x", cols),
                     "com.microsoft");
}

}  // namespace

std::vector<Case> float_convolutions(int count) { return dealt(count, 11, convolution); }
std::vector<Case> float_decoders(int count) { return dealt(count, 17, decoder); }

namespace {
// Steps of a sequence as matrices of one row, which are in memory as another order left them.
Case sequence(std::int64_t batch, bool is_constant) {
  Dice dice(static_cast<std::uint64_t>(batch));
  ModelBuilder model;
  const Tensor x = rough_floats(dice, {batch, 7, 20}), w = rough_floats(dice, {20, 33});
  model.input("x", DType::kF32, {batch, 7, 20});
  if (!is_constant) model.input("w", DType::kF32, {20, 33});
  if (is_constant) model.initializer("w", w);
  model.node("Transpose", {"x"}, {"t"}, {{"perm", Ints{1, 0, 2}}});
  model.node("MatMul", {"t", "w"}, {"y"}).output("y");
  std::vector<Tensor> inputs = {x};
  if (!is_constant) inputs.push_back(w);
  return {cat("steps of ", batch, is_constant ? "" : ", weights at run time"), model.bytes(),
          std::move(inputs)};
}
}  // namespace

std::vector<Case> float_matrices(int count) {
  std::vector<Case> out = dealt(count, 12, [](int index, Dice& dice) {
    return dice.one_in(2) ? matmul(index, dice) : gemm(index, dice);
  });
  for (const std::int64_t batch : {1, 3}) {
    for (const bool is_constant : {true, false}) out.push_back(sequence(batch, is_constant));
  }
  return out;
}

std::vector<Case> float_rows(int count) {
  return dealt(count, 13, [](int index, Dice& dice) {
    switch (index % 5) {
      case 0:
        return average_pool(index, dice);
      case 1:
        return prelu(index, dice);
      case 2:
        return batch_normalization(index, dice);
      default:
        return reduction(index, dice);
    }
  });
}

std::vector<Case> normalized_rows(int count) {
  return dealt(count, 15, [](int index, Dice& dice) {
    if (index % 4 == 0) return quantized_softmax(index, dice);
    if (index % 4 == 1) return dice.one_in(3) ? lrn(index, dice) : normalization(index, dice);
    return softmax(index, dice);
  });
}

std::vector<Case> rows_before_convolutions(int count) {
  return dealt(count, 16, row_before_convolution);
}

std::vector<Case> integer_to_float_products(int count) {
  return dealt(count, 14, integer_to_float);
}

}  // namespace etch
