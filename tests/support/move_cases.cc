// See move_cases.h.
#include "tests/support/move_cases.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/conv_node.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {
using Attributes = std::map<std::string, Attribute>;

DType any_type(Dice& dice) {
  return dice.pick<DType>(
      {DType::kU8, DType::kS8, DType::kF32, DType::kF32, DType::kS32, DType::kS64, DType::kBool});
}

Tensor random_tensor(Dice& dice, DType type, Shape shape) {
  Tensor out(type, std::move(shape));
  if (type == DType::kF32) {
    for (float& x : out.as<float>()) x = static_cast<float>(dice.between(-999, 999)) * 0.37F;
    return out;
  }
  for (std::byte& byte : out.mutable_bytes())
    byte = static_cast<std::byte>(dice.between(0, type == DType::kBool ? 1 : 255));
  return out;
}

Shape any_move_shape(Dice& dice, std::int64_t least_rank, std::int64_t most_rank) {
  Shape out;
  const std::int64_t rank = dice.between(least_rank, most_rank);
  for (std::int64_t d = 0; d < rank; ++d) out.push_back(dice.one_in(5) ? 1 : dice.between(2, 7));
  return out;
}

std::int64_t moved_axis(Dice& dice, const Shape& shape) {
  return dice.between(0, static_cast<std::int64_t>(shape.size()) - 1);
}

// A model under construction around one node.
struct OneMove {
  Dice& dice;
  ModelBuilder model;
  std::vector<Tensor> inputs;

  OneMove(Dice& from, std::int64_t opset) : dice(from), model(opset) {
    model.opset("com.microsoft", 1);
  }
  // A graph input, or now and then a constant.
  std::string data(const std::string& name, DType type, const Shape& shape, bool may_be_constant) {
    Tensor tensor = random_tensor(dice, type, shape);
    if (may_be_constant && dice.one_in(3)) {
      model.initializer(name, tensor);
    } else {
      model.input(name, type, declared_dims(shape));
      inputs.push_back(std::move(tensor));
    }
    return name;
  }
  // Through a Transpose there and back now and then: a view with other strides.
  std::string turned(const std::string& name, const Shape& shape) {
    if (shape.size() != 4 || dice.one_in(2)) return name;
    model.node("Transpose", {name}, {name + "_t"}, {{"perm", Ints{0, 2, 3, 1}}});
    model.node("Relu", {name + "_t"}, {name + "_r"});
    model.node("Transpose", {name + "_r"}, {name + "_u"}, {{"perm", Ints{0, 3, 1, 2}}});
    return name + "_u";
  }
  std::string ints(const std::string& name, const Ints& values) {
    const Shape shape{static_cast<std::int64_t>(values.size())};
    model.initializer(name, Tensor::of<std::int64_t>(shape, values));
    return name;
  }
  Case finish(std::string name) { return {std::move(name), model.bytes(), std::move(inputs)}; }
};

Case concat_case(int index, Dice& dice) {
  OneMove move(dice, 13);
  const DType type = any_type(dice);
  Shape shape = any_move_shape(dice, 1, 4);
  const std::int64_t axis = moved_axis(dice, shape);
  std::vector<std::string> names;
  const std::int64_t count = dice.between(1, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    shape[static_cast<std::size_t>(axis)] = dice.between(1, 5);
    const std::string name = move.data(cat("x", i), type, shape, i > 0);
    names.push_back(type == DType::kF32 ? move.turned(name, shape) : name);
    if (dice.one_in(5)) names.push_back(names.back());
  }
  move.model.node("Concat", names, {"y"}, {{"axis", axis}}).output("y");
  return move.finish(cat("concat_", index, "_", name_of(type), "_", to_string(shape)));
}

Case qlinear_concat_case(int index, Dice& dice) {
  OneMove move(dice, 13);
  const DType type = any_8bit(dice);
  Shape shape = any_move_shape(dice, 1, 4);
  const std::int64_t axis = moved_axis(dice, shape);
  const auto add_scalars = [&](const std::string& name, float scale, int zero) {
    move.model.initializer(name + "_scale", Tensor::of<float>({}, {scale}));
    Tensor zero_point(type, {});
    zero_point.mutable_bytes()[0] = static_cast<std::byte>(zero & 0xff);
    move.model.initializer(name + "_zero", zero_point);
  };
  const int zero = any_zero_point(dice, type);
  add_scalars("y", 0.05F, zero);
  std::vector<std::string> names{"y_scale", "y_zero"};
  const std::int64_t count = dice.between(1, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    shape[static_cast<std::size_t>(axis)] = dice.between(1, 5);
    const std::string name = cat("x", i);
    const bool equal = dice.one_in(3);
    add_scalars(name, equal ? 0.05F : dice.pick<float>({0.025F, 0.1F, 0.0431F}),
                equal ? zero : any_zero_point(dice, type));
    names.push_back(move.data(name, type, shape, i > 0));
    names.insert(names.end(), {name + "_scale", name + "_zero"});
  }
  move.model.node("QLinearConcat", names, {"y"}, {{"axis", axis}}, "com.microsoft").output("y");
  return move.finish(cat("qlinear_concat_", index, "_", name_of(type)));
}

Case slice_case(int index, Dice& dice) {
  OneMove move(dice, 13);
  const DType type = any_type(dice);
  const Shape shape = any_move_shape(dice, 1, 5);
  Ints starts, ends, axes, steps;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (dice.one_in(3)) continue;
    const std::int64_t first = dice.between(0, shape[d] - 1);
    const std::int64_t step = dice.pick<std::int64_t>({1, 1, 1, 2, 3, -1, -2});
    axes.push_back(static_cast<std::int64_t>(d));
    starts.push_back(first);
    steps.push_back(step);
    ends.push_back(step > 0 ? dice.between(first + 1, shape[d] + 2)
                            : dice.between(-shape[d] - 2, first - shape[d] - 1));
  }
  const std::string x = move.data("x", type, shape, false);
  const std::string from = type == DType::kF32 ? move.turned(x, shape) : x;
  move.model.node("Slice",
                  {from, move.ints("starts", starts), move.ints("ends", ends),
                   move.ints("axes", axes), move.ints("steps", steps)},
                  {"s"});
  // Some node has to read the view.
  if (type == DType::kF32 && dice.one_in(2)) {
    move.model.node("Add", {"s", "s"}, {"y"}).output("y");
  } else {
    move.model.output("s");
  }
  return move.finish(cat("slice_", index, "_", name_of(type), "_", to_string(shape)));
}

Case split_case(int index, Dice& dice) {
  OneMove move(dice, 13);
  const DType type = any_type(dice);
  Shape shape = any_move_shape(dice, 1, 4);
  const std::int64_t axis = moved_axis(dice, shape);
  Ints sizes;
  for (std::int64_t i = dice.between(1, 3); i > 0; --i) sizes.push_back(dice.between(1, 4));
  shape[static_cast<std::size_t>(axis)] = 0;
  for (const std::int64_t size : sizes) shape[static_cast<std::size_t>(axis)] += size;
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < sizes.size(); ++i) outputs.push_back(cat("y", i));
  const std::string x = move.data("x", type, shape, false);
  move.model.node("Split", {x, move.ints("split", sizes)}, outputs, {{"axis", axis}});
  for (const std::string& output : outputs) move.model.output(output);
  return move.finish(cat("split_", index, "_", name_of(type), "_", to_string(shape)));
}

Case expand_case(int index, Dice& dice) {
  OneMove move(dice, 13);
  const DType type = any_type(dice);
  const Shape to = any_move_shape(dice, 1, 5);
  Shape from = to;
  for (std::int64_t& size : from) size = dice.one_in(2) ? 1 : size;
  from.erase(from.begin(), from.begin() + dice.between(0, static_cast<std::int64_t>(to.size())));
  const std::string x = move.data("x", type, from, false);
  move.model.node("Expand", {x, move.ints("shape", to)}, {"y"}).output("y");
  return move.finish(cat("expand_", index, "_", name_of(type), "_", to_string(to)));
}

Case pad_case(int index, Dice& dice) {
  OneMove move(dice, 19);
  const DType type = any_type(dice);
  const Shape shape = any_move_shape(dice, 1, 4);
  const auto mode = dice.pick<std::string>({"constant", "constant", "edge", "reflect", "wrap"});
  Ints pads(2 * shape.size(), 0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t most = mode == "reflect" ? shape[d] - 1 : 5;
    pads[d] = dice.between(0, std::max<std::int64_t>(most, 0));
    pads[d + shape.size()] = dice.between(0, std::max<std::int64_t>(most, 0));
    if (dice.one_in(4)) pads[d] = 0;
    if (dice.one_in(6) && shape[d] > 2 && mode != "reflect") pads[d + shape.size()] = -1;
    if (dice.one_in(8) && shape[d] > 2 && mode != "reflect") pads[d] = -1;
  }
  std::vector<std::string> names{move.data("x", type, shape, false), move.ints("pads", pads)};
  if (type == DType::kF32 && dice.one_in(2)) names[0] = move.turned(names[0], shape);
  if (mode == "constant" && dice.one_in(2)) {
    move.model.initializer("value", random_tensor(dice, type, {}));
    names.push_back("value");
  }
  move.model.node("Pad", names, {"y"}, {{"mode", mode}}).output("y");
  return move.finish(cat("pad_", index, "_", mode, "_", name_of(type), "_", to_string(shape)));
}

std::string any_transform(Dice& dice) {
  return dice.pick<std::string>({"asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners",
                                 "half_pixel_symmetric", "tf_crop_and_resize"});
}

// x, whose name it returns, "roi" and "scales".
std::string resize_inputs(OneMove& move, Dice& dice, DType type, const Shape& shape,
                          const std::vector<float>& scales) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::string x = move.data("x", type, shape, false);
  if (type == DType::kF32) x = move.turned(x, shape);
  std::vector<float> roi(static_cast<std::size_t>(2 * rank), 0.0F);
  for (std::int64_t d = 0; d < rank; ++d) {
    roi[static_cast<std::size_t>(d)] = dice.one_in(2) ? -0.2F : 0.1F;
    roi[static_cast<std::size_t>(d + rank)] = dice.one_in(2) ? 0.8F : 1.3F;
  }
  move.model.initializer("roi", Tensor::of<float>({2 * rank}, roi));
  move.model.initializer("scales", Tensor::of<float>({rank}, scales));
  return x;
}

Case resize_case(int index, Dice& dice, bool linear) {
  OneMove move(dice, 19);
  const DType type =
      linear ? dice.pick<DType>({DType::kF32, DType::kU8, DType::kS8}) : any_type(dice);
  const bool last = dice.one_in(3);
  const std::int64_t rank = linear ? dice.between(2, 5) : dice.between(1, 5);
  Shape shape;
  for (std::int64_t d = 0; d < rank; ++d) shape.push_back(dice.between(1, 6));
  if (rank == 4 && last && dice.one_in(2)) shape[3] = dice.pick<std::int64_t>({9, 21, 40});
  std::vector<float> scales;
  for (std::int64_t d = 0; d < rank; ++d) {
    const bool inner = rank == 4 && last ? d == 1 || d == 2 : rank < 4 || d >= 2;
    scales.push_back(!inner ? 1.0F
                            : dice.pick<float>({1.0F, 2.0F, 2.0F, 3.0F, 1.7F, 2.6F, 0.5F, 0.6F}));
    if (static_cast<float>(shape.back()) * scales.back() < 1.0F) scales.back() = 1.0F;
    if (static_cast<float>(shape[static_cast<std::size_t>(d)]) * scales.back() < 1.0F)
      scales.back() = 1.0F;
  }
  const std::string transform = any_transform(dice);
  const auto round =
      dice.pick<std::string>({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  const std::string x = resize_inputs(move, dice, type, shape, scales);
  Attributes attributes{{"mode", std::string(linear ? "linear" : "nearest")},
                        {"coordinate_transformation_mode", transform},
                        {"nearest_mode", round}};
  const bool cubic = linear && type == DType::kF32 && (rank == 2 || (rank == 4 && !last));
  if (cubic && dice.one_in(2)) {
    attributes["mode"] = std::string("cubic");
    attributes["exclude_outside"] = dice.between(0, 1);
  }
  const bool fits = type == DType::kF32 || is_8bit(type);
  if (transform == "tf_crop_and_resize") {
    if (!fits) attributes["coordinate_transformation_mode"] = std::string("asymmetric");
    attributes["extrapolation_value"] = 17.0F;
  }
  move.model.node("Resize", {x, "roi", "scales"}, {"y"}, attributes).output("y");
  return move.finish(cat("resize_", index, "_", linear ? "linear_" : "nearest_", transform, "_",
                         name_of(type), "_", to_string(shape)));
}

// Along one axis or several, from a few elements to more than a vector and a turned part have.
Case antialias_case(int index, Dice& dice) {
  OneMove move(dice, 19);
  const DType type = dice.pick<DType>({DType::kF32, DType::kF32, DType::kU8});
  const std::int64_t rank = dice.between(1, 4);
  Shape shape;
  std::vector<float> scales;
  for (std::int64_t d = 0; d < rank; ++d) {
    shape.push_back(dice.pick<std::int64_t>({1, 2, 3, 5, 8, 13, dice.between(1, 24)}));
    if (d + 1 == rank && dice.one_in(3)) shape.back() = dice.pick<std::int64_t>({40, 97, 150});
    scales.push_back(dice.pick<float>({1.0F, 1.0F, 0.5F, 0.3F, 0.7F, 0.12F, 1.6F}));
    if (static_cast<float>(shape.back()) * scales.back() < 1.0F) scales.back() = 1.0F;
  }
  const std::string transform = any_transform(dice);
  const std::string x = resize_inputs(move, dice, type, shape, scales);
  const auto mode = dice.pick<std::string>({"linear", "cubic"});
  move.model
      .node("Resize", {x, "roi", "scales"}, {"y"},
            {{"mode", mode},
             {"antialias", std::int64_t{1}},
             {"coordinate_transformation_mode", transform},
             {"exclude_outside", dice.between(0, 1)},
             {"extrapolation_value", 17.0F}})
      .output("y");
  return move.finish(cat("antialias_", index, "_", mode, "_", transform, "_", name_of(type), "_",
                         to_string(shape)));
}

// ---- networks ----

// Convolutions with what moves between them. Everything shares one quantization where operators
// ask for it.
class MovingNetwork {
 public:
  explicit MovingNetwork(Dice& dice) : dice_(dice), type_(any_8bit(dice)) {
    q_ = {type_, 0.02F, any_zero_point(dice_, type_)};
    size_ = {1, dice_.between(1, 12), dice_.between(4, 7), dice_.between(4, 7)};
    model_.opset("com.microsoft", 1);
    model_.input("x", type_, declared_dims(size_));
    input_ = random_bytes(dice_, type_, size_);
    zero_ = Tensor(type_, {});
    zero_.mutable_bytes()[0] = static_cast<std::byte>(q_.zero_point & 0xff);
    model_.initializer("zero", zero_);
    model_.initializer("scale", Tensor::of<float>({}, {q_.scale}));
    value_ = "x";
  }

  void convolution(std::int64_t kernel) {
    ConvShape shape;
    shape.in_per_group = size_[1];
    shape.out_per_group = dice_.between(1, 20);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      shape.in.push_back(size_[axis + 2]);
      shape.kernel.push_back(kernel);
      shape.stride.push_back(1);
      shape.dilation.push_back(1);
      shape.pad_begin.push_back(kernel / 2);
      shape.pad_end.push_back(kernel / 2);
    }
    size_[1] = shape.out_per_group;
    const ConvNode node(shape, q_, Scaling::kTypical, dice_);
    const std::string y = next();
    node.add(model_, value_, y, y + "_");
    QuantizedActivation to = node.y();
    // Back to the common type and quantization, which Concat needs.
    if (to.type != type_ || to.zero_point != q_.zero_point || to.scale != q_.scale) {
      model_.initializer(y + "_s", Tensor::of<float>({}, {to.scale}));
      Tensor zero(to.type, {});
      zero.mutable_bytes()[0] = static_cast<std::byte>(to.zero_point & 0xff);
      model_.initializer(y + "_z", zero);
      model_.node("DequantizeLinear", {y, y + "_s", y + "_z"}, {y + "_f"});
      model_.node("QuantizeLinear", {y + "_f", "scale", "zero"}, {y + "_q"});
      value_ = y + "_q";
    } else {
      value_ = y;
    }
  }

  // The value and a convolution of it, one after the other along the channels.
  void dense_block() {
    const std::string before = value_;
    const std::int64_t channels = size_[1];
    convolution(dice_.one_in(2) ? 3 : 1);
    const std::string y = next();
    const std::string other = value_;
    const bool first = dice_.one_in(2);
    model_.node("Concat", {first ? before : other, first ? other : before}, {y},
                {{"axis", std::int64_t{1}}});
    size_[1] += channels;
    value_ = y;
  }

  void pad() {
    const std::string y = next();
    Ints pads{0, 0, dice_.between(0, 2), dice_.between(0, 2),
              0, 0, dice_.between(0, 2), dice_.between(0, 2)};
    model_.initializer(y + "_pads", Tensor::of<std::int64_t>({8}, pads));
    model_.node("Pad", {value_, y + "_pads", "zero"}, {y});
    size_[2] += pads[2] + pads[6];
    size_[3] += pads[3] + pads[7];
    value_ = y;
  }

  void upsample() {
    if (size_[2] * size_[3] > 150) return;
    const std::string y = next();
    model_.initializer(y + "_scales", Tensor::of<float>({4}, {1.0F, 1.0F, 2.0F, 2.0F}));
    model_.node("Resize", {value_, "", y + "_scales"}, {y},
                {{"mode", std::string("nearest")},
                 {"coordinate_transformation_mode", std::string("asymmetric")},
                 {"nearest_mode", std::string("floor")}});
    size_[2] *= 2;
    size_[3] *= 2;
    value_ = y;
  }

  // Channels in two parts; one goes through a convolution, then they are joined.
  void split_and_join() {
    if (size_[1] < 2) return;
    const std::string y = next();
    const std::int64_t first = dice_.between(1, size_[1] - 1);
    const std::int64_t second = size_[1] - first;
    model_.initializer(y + "_split", Tensor::of<std::int64_t>({2}, {first, second}));
    model_.node("Split", {value_, y + "_split"}, {y + "_a", y + "_b"}, {{"axis", std::int64_t{1}}});
    value_ = y + "_b";
    size_[1] = second;
    convolution(3);
    model_.node("Concat", {y + "_a", value_}, {y}, {{"axis", std::int64_t{1}}});
    size_[1] += first;
    value_ = y;
  }

  void slice() {
    const std::string y = next();
    model_.initializer(y + "_0", Tensor::of<std::int64_t>({2}, {0, 1}));
    model_.initializer(y + "_1", Tensor::of<std::int64_t>({2}, {size_[1], size_[3]}));
    model_.initializer(y + "_axes", Tensor::of<std::int64_t>({2}, {1, 3}));
    model_.initializer(y + "_steps", Tensor::of<std::int64_t>({2}, {dice_.between(1, 2), 1}));
    const std::int64_t step =
        model_.graph().initializer(model_.graph().initializer_size() - 1).raw_data()[0];
    model_.node("Slice", {value_, y + "_0", y + "_1", y + "_axes", y + "_steps"}, {y});
    size_[1] = (size_[1] + step - 1) / step;
    size_[3] -= 1;
    value_ = y;
  }

  void another_output() { outputs_.push_back(value_); }

  Case finish(const std::string& name) {
    another_output();
    std::sort(outputs_.begin(), outputs_.end());
    outputs_.erase(std::unique(outputs_.begin(), outputs_.end()), outputs_.end());
    for (const std::string& output : outputs_) {
      if (output != "x") model_.output(output);
    }
    if (outputs_ == std::vector<std::string>{"x"}) model_.output("x");
    return {name, model_.bytes(), {input_}};
  }

 private:
  std::string next() { return cat("v", ++count_); }

  Dice& dice_;
  ModelBuilder model_{13};
  DType type_;
  QuantizedActivation q_;
  Shape size_;
  std::string value_;
  int count_ = 0;
  std::vector<std::string> outputs_;
  Tensor input_, zero_;
};

}  // namespace

std::vector<Case> move_cases(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 7'000'000);
    out.push_back(concat_case(index, dice));
    out.push_back(qlinear_concat_case(index, dice));
    out.push_back(slice_case(index, dice));
    out.push_back(split_case(index, dice));
    out.push_back(expand_case(index, dice));
    out.push_back(pad_case(index, dice));
  }
  return out;
}

std::vector<Case> resize_cases(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 8'000'000);
    out.push_back(resize_case(index, dice, index % 2 == 0));
  }
  return out;
}

std::vector<Case> antialias_cases(int count) { return dealt(count, 85, antialias_case); }

std::vector<Case> networks_that_move(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 9'000'000);
    MovingNetwork network(dice);
    std::string name = cat("moving_network_", index, "_");
    const std::int64_t length = dice.between(2, 5);
    for (std::int64_t i = 0; i < length; ++i) {
      const char what = dice.pick<char>({'1', '3', 'd', 'd', 'p', 'u', 's', 's', 'l'});
      name += what;
      if (what == '1' || what == '3') network.convolution(what - '0');
      if (what == 'd') network.dense_block();
      if (what == 'p') network.pad();
      if (what == 'u') network.upsample();
      if (what == 's') network.split_and_join();
      if (what == 'l') network.slice();
      if (dice.one_in(5)) network.another_output();
    }
    network.convolution(3);
    out.push_back(network.finish(name));
  }
  return out;
}

}  // namespace etch
