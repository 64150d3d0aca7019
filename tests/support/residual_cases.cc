// See residual_cases.h.
#include "tests/support/residual_cases.h"

#include <tuple>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/reference_math.h"
#include "tests/support/conv_node.h"
#include "tests/support/dealt.h"

namespace etch {

namespace {

ConvShape plane_convolution(Dice& dice, const Shape& x, std::int64_t out, std::int64_t kernel,
                            std::int64_t stride) {
  ConvShape shape;
  shape.batch = x[0];
  shape.group = out % 2 == 0 && x[1] % 2 == 0 && dice.one_in(8) ? 2 : 1;
  shape.in_per_group = x[1] / shape.group;
  shape.out_per_group = out / shape.group;
  for (std::size_t axis = 2; axis < 4; ++axis) {
    shape.in.push_back(x[axis]);
    shape.kernel.push_back(kernel);
    shape.stride.push_back(stride);
    shape.dilation.push_back(1);
    shape.pad_begin.push_back(kernel / 2);
    shape.pad_end.push_back(kernel / 2);
  }
  return shape;
}

class ResidualModel {
 public:
  ResidualModel(int index, Dice& dice) : dice_(dice), name_(cat("residual_", index)) {
    model_.opset("com.microsoft", 1);
    x_ = {any_8bit(dice_), 0.02F, 0};
    x_.zero_point = any_zero_point(dice_, x_.type);
    shape_ = {dice_.one_in(4) ? 2 : 1, dice_.between(1, 20), dice_.between(1, 7),
              dice_.between(1, 9)};
    model_.input("x", x_.type, declared_dims(shape_));
    inputs_.push_back(random_bytes(dice_, x_.type, shape_));
  }

  Case finish() {
    const std::int64_t kernel = dice_.one_in(2) ? 1 : 3, stride = dice_.one_in(4) ? 2 : 1;
    const bool image = stride == 1 && dice_.one_in(3);
    const std::int64_t channels =
        image ? shape_[1] : dice_.pick<std::int64_t>({1, 3, 8, 16, 17, 24, 32, 40, 48, 64, 72});
    const QuantizedActivation own = convolution("v", channels, kernel, stride);
    const Shape sum_shape{shape_[0], channels, (shape_[2] - 1) / stride + 1,
                          (shape_[3] - 1) / stride + 1};
    QuantizedActivation other = x_;
    std::string from = "x";
    if (!image || own.type != x_.type) std::tie(other, from) = residual(own, sum_shape);
    add(own, other, from);
    limit();
    follow(sum_shape);
    model_.output(value_);
    return {cat(name_, "_", to_string(sum_shape)), model_.bytes(), std::move(inputs_)};
  }

 private:
  QuantizedActivation convolution(const std::string& y, std::int64_t channels, std::int64_t kernel,
                                  std::int64_t stride) {
    const ConvShape shape = plane_convolution(dice_, shape_, channels, kernel, stride);
    const ConvNode node(shape, x_, Scaling::kTypical, dice_);
    node.add(model_, "x", y, y + "_");
    name_ += cat("_", node.describe());
    return node.y();
  }

  // A graph input of the summands' type.
  std::pair<QuantizedActivation, std::string> residual(const QuantizedActivation& own,
                                                       const Shape& shape) {
    QuantizedActivation other{own.type, own.scale * 0.7F, any_zero_point(dice_, own.type)};
    model_.input("r", own.type, declared_dims(shape));
    inputs_.push_back(random_bytes(dice_, own.type, shape));
    return {other, "r"};
  }

  void add(const QuantizedActivation& own, const QuantizedActivation& other,
           const std::string& from) {
    sum_ = {own.type, own.scale + other.scale, any_zero_point(dice_, own.type)};
    add_activation(model_, "own", own);
    add_activation(model_, "other", other);
    add_activation(model_, "sum", sum_);
    std::vector<std::string> left{"v", "own_scale", "own_zero_point"};
    std::vector<std::string> right{from, "other_scale", "other_zero_point"};
    if (dice_.one_in(2)) std::swap(left, right);
    left.insert(left.end(), right.begin(), right.end());
    left.insert(left.end(), {"sum_scale", "sum_zero_point"});
    model_.node("QLinearAdd", left, {"s"}, {}, "com.microsoft");
  }

  void limit() {
    if (!dice_.one_in(3)) return;
    model_.initializer("low", narrowed(sum_.type, {}, {sum_.zero_point}));
    model_.node("Clip", {"s", "low"}, {"l"});
    value_ = "l";
  }

  // A padded convolution wants a halo around the sum.
  void follow(const Shape& shape) {
    if (!dice_.one_in(3)) return;
    const ConvNode node(plane_convolution(dice_, shape, 4, 3, 1), sum_, Scaling::kTypical, dice_);
    node.add(model_, value_, "w", "w_");
    value_ = "w";
  }

  Dice& dice_;
  ModelBuilder model_{13};
  std::string name_;
  QuantizedActivation x_, sum_;
  Shape shape_;
  std::vector<Tensor> inputs_;
  std::string value_ = "s";
};

}  // namespace

std::vector<Case> residual_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 7'000'000);
    out.push_back(ResidualModel(index, dice).finish());
  }
  return out;
}

}  // namespace etch
