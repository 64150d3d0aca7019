// See block_cases.h.
#include "tests/support/block_cases.h"

#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/conv_node.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

class BlocksModel {
 public:
  explicit BlocksModel(int index) : dice_(static_cast<std::uint64_t>(91'000 + index)) {
    name_ = cat("blocks_", index);
    model_.opset("com.microsoft", 1);
    shape_ = {1, dice_.between(1, 5), dice_.between(8, 22), dice_.between(3, 12)};
    now_ = {any_8bit(dice_), 0.02F, 0};
    now_.zero_point = any_zero_point(dice_, now_.type);
    add_input();
  }

  Case make() {
    convolve(dice_.pick<std::int64_t>({4, 8, 12, 16}), 3, 1, 1);
    const int blocks = static_cast<int>(dice_.between(1, 3));
    for (int i = 0; i < blocks; ++i) {
      const std::int64_t kind = dice_.between(0, 3);
      if (kind == 0) residual_block(shape_[1], 1);
      if (kind == 1) residual_block(dice_.pick<std::int64_t>({4, 8, 20}), 2);
      if (kind == 2) separable_block();
      if (kind == 3) convolve(dice_.pick<std::int64_t>({3, 8, 16}), 3, dice_.between(1, 2), 1);
    }
    model_.output(value_);
    return {name_, model_.bytes(), std::move(inputs_)};
  }

 private:
  // 8 bits, or floats that are quantized first.
  void add_input() {
    const std::vector<Dim> dims(shape_.begin(), shape_.end());
    const bool floats = dice_.one_in(2);
    value_ = floats ? "q" : "x";
    model_.input("x", floats ? DType::kF32 : now_.type, dims);
    if (!floats) {
      inputs_.push_back(random_bytes(dice_, now_.type, shape_));
      return;
    }
    std::vector<float> values;
    for (std::int64_t i = 0; i < element_count(shape_); ++i)
      values.push_back(static_cast<float>(dice_.between(-300, 300)) / 64);
    inputs_.push_back(f32(shape_, values));
    add_activation(model_, "in", now_);
    model_.node("QuantizeLinear", {"x", "in_scale", "in_zero_point"}, {"q"});
    name_ += "_float";
  }

  ConvShape shape_of(const Shape& x, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                     std::int64_t group) {
    ConvShape shape;
    shape.group = group;
    shape.in_per_group = x[1] / group;
    shape.out_per_group = out / group;
    for (std::size_t axis = 2; axis < 4; ++axis) {
      // As in TensorFlow, an even image that is halved has its padding at the end.
      const bool late = stride == 2 && x[axis] % 2 == 0;
      shape.in.push_back(x[axis]);
      shape.kernel.push_back(kernel);
      shape.stride.push_back(stride);
      shape.dilation.push_back(1);
      shape.pad_begin.push_back(late ? 0 : kernel / 2);
      shape.pad_end.push_back(kernel / 2);
    }
    return shape;
  }

  // A convolution whose output has `type`, if one is wanted; it becomes the current value.
  QuantizedActivation convolve(std::int64_t out, std::int64_t kernel, std::int64_t stride,
                               std::int64_t group, const DType* type = nullptr) {
    const ConvShape shape = shape_of(shape_, out, kernel, stride, group);
    ConvNode node(shape, now_, Scaling::kTypical, dice_);
    while (type != nullptr && node.y().type != *type)
      node = ConvNode(shape, now_, Scaling::kTypical, dice_);
    const std::string y = cat("v", count_++);
    node.add(model_, value_, y, y + "_");
    name_ += cat("_k", kernel, "s", stride, "m", out, group > 1 ? "dw" : "");
    for (std::size_t axis = 2; axis < 4; ++axis) {
      const std::size_t a = axis - 2;
      shape_[axis] = (shape_[axis] + shape.pad_begin[a] + shape.pad_end[a] - kernel) / stride + 1;
    }
    shape_[1] = out;
    now_ = node.y();
    value_ = y;
    return now_;
  }

  void separable_block() {
    convolve(shape_[1], 3, dice_.between(1, 2), shape_[1]);
    convolve(dice_.pick<std::int64_t>({4, 8, 16}), 1, 1, 1);
  }

  // Two convolutions, and the input (or, with a stride, one more convolution of it) added.
  void residual_block(std::int64_t out, std::int64_t stride) {
    const QuantizedActivation x = now_;
    const Shape x_shape = shape_;
    const std::string x_value = value_;
    convolve(out, 3, stride, 1);
    const QuantizedActivation own = convolve(out, 3, 1, 1, stride == 1 ? &x.type : nullptr);
    const std::string own_value = value_;
    const Shape own_shape = shape_;
    QuantizedActivation other = x;
    std::string other_value = x_value;
    if (stride > 1) {
      now_ = x, shape_ = x_shape, value_ = x_value;
      other = convolve(out, 1, stride, 1, &own.type);
      other_value = value_;
    }
    // Halving leaves the same size with and without padding, except for images of one row.
    if (shape_ != own_shape && stride > 1) {
      now_ = own, shape_ = own_shape, value_ = own_value;
      return;
    }
    add(own, own_value, other, other_value);
  }

  void add(const QuantizedActivation& own, const std::string& own_value,
           const QuantizedActivation& other, const std::string& other_value) {
    const std::string name = cat("s", count_++);
    const QuantizedActivation sum{own.type, own.scale + other.scale,
                                  any_zero_point(dice_, own.type)};
    add_activation(model_, name + "own", own);
    add_activation(model_, name + "other", other);
    add_activation(model_, name + "sum", sum);
    model_.node(
        "QLinearAdd",
        {own_value, name + "own_scale", name + "own_zero_point", other_value, name + "other_scale",
         name + "other_zero_point", name + "sum_scale", name + "sum_zero_point"},
        {name}, {}, "com.microsoft");
    name_ += "_add";
    now_ = sum;
    value_ = name;
  }

  Dice dice_;
  ModelBuilder model_{13};
  std::string name_, value_;
  QuantizedActivation now_;
  Shape shape_;
  int count_ = 0;
  std::vector<Tensor> inputs_;
};

}  // namespace

std::vector<Case> networks_of_blocks(int count) {
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) cases.push_back(BlocksModel(i).make());
  return cases;
}

}  // namespace etch
