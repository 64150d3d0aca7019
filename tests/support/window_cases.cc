// See window_cases.h.
#include "tests/support/window_cases.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/conv_node.h"

namespace etch {

namespace {

using Sizes = std::vector<std::int64_t>;
using Kind = ConvShape::Kind;

constexpr std::int64_t kMostProducts = 150'000;  // of a layer: the references take milliseconds

// What the kernel covers.
std::int64_t reach_of(const ConvShape& shape, std::size_t axis) {
  return (shape.kernel[axis] - 1) * shape.dilation[axis] + 1;
}

std::int64_t out_size(const ConvShape& shape, std::size_t axis) {
  const std::int64_t pads = shape.pad_begin[axis] + shape.pad_end[axis];
  if (shape.kind == Kind::kTransposed) {
    return (shape.in[axis] - 1) * shape.stride[axis] + reach_of(shape, axis) +
           shape.output_padding[axis] - pads;
  }
  return (shape.in[axis] + pads - reach_of(shape, axis)) / shape.stride[axis] + 1;
}

bool has_output(const ConvShape& shape, std::size_t axis) {
  if (shape.kind == Kind::kTransposed) return out_size(shape, axis) > 0;
  return shape.in[axis] + shape.pad_begin[axis] + shape.pad_end[axis] >= reach_of(shape, axis);
}

std::int64_t products(const ConvShape& shape) {
  std::int64_t out = shape.batch * shape.group * shape.in_per_group * shape.out_per_group;
  for (std::size_t axis = 0; axis < shape.in.size(); ++axis)
    out *= shape.kernel[axis] * std::max(out_size(shape, axis), shape.in[axis]);
  return out;
}

std::int64_t any_pad(Dice& dice) {
  return dice.one_in(2) ? dice.between(0, 2) : dice.between(0, 12);
}

// At least one output, whatever is drawn.
void add_window_axis(ConvShape& shape, Dice& dice, std::int64_t in) {
  shape.in.push_back(in);
  shape.kernel.push_back(dice.pick<std::int64_t>({1, 1, 2, 3, 3, 4, 5, 7, 9}));
  shape.stride.push_back(dice.pick<std::int64_t>({1, 1, 1, 2, 3, 4}));
  shape.dilation.push_back(dice.pick<std::int64_t>({1, 1, 1, 2, 3, 5}));
  shape.pad_begin.push_back(any_pad(dice));
  shape.pad_end.push_back(any_pad(dice));
  const std::size_t axis = shape.in.size() - 1;
  if (shape.kind == Kind::kTransposed)
    shape.output_padding.push_back(dice.between(0, shape.stride[axis] - 1));
  while (!has_output(shape, axis)) {
    if (shape.kind == Kind::kTransposed) {
      std::int64_t& pad = shape.pad_begin[axis] > 0 ? shape.pad_begin[axis] : shape.pad_end[axis];
      --pad;
    } else if (shape.dilation[axis] > 1) {
      --shape.dilation[axis];
    } else {
      --shape.kernel[axis];
    }
  }
}

void add_axes(ConvShape& shape, Dice& dice, const Sizes& in) {
  for (const std::int64_t size : in) add_window_axis(shape, dice, size);
  // Along one axis alone there is neither kernel nor pad: N x 1 and 1 x N.
  if (shape.kind == Kind::kTransposed || in.size() < 2 || !dice.one_in(5)) return;
  const auto flat = static_cast<std::size_t>(dice.between(0, 1));
  shape.kernel[flat] = shape.stride[flat] = shape.dilation[flat] = 1;
  shape.pad_begin[flat] = shape.pad_end[flat] = 0;
}

void set_channels(ConvShape& shape, Dice& dice, std::int64_t channels) {
  const bool depthwise = dice.one_in(2);
  shape.group = depthwise ? channels : channels % 2 == 0 && dice.one_in(4) ? 2 : 1;
  shape.in_per_group = channels / shape.group;
  shape.out_per_group = depthwise ? (dice.one_in(8) ? 2 : 1) : dice.between(1, 40 / shape.group);
}

// Takes away what makes a layer slow, the outermost axis first.
void shrink(ConvShape& shape) {
  for (std::size_t axis = 0; axis < shape.in.size() && products(shape) > kMostProducts; ++axis) {
    shape.kernel[axis] = 1;
    shape.dilation[axis] = 1;
    if (shape.kind != Kind::kTransposed) continue;
    shape.pad_begin[axis] = shape.pad_end[axis] = 0;
  }
  while (products(shape) > kMostProducts && shape.out_per_group > 1) shape.out_per_group /= 2;
}

ConvShape any_window_shape(Dice& dice, Kind kind, std::int64_t batch, std::int64_t channels,
                           const Sizes& in) {
  ConvShape shape;
  shape.kind = kind;
  shape.batch = batch;
  set_channels(shape, dice, channels);
  add_axes(shape, dice, in);
  shrink(shape);
  return shape;
}

Sizes any_image(Dice& dice) {
  const std::int64_t rank = dice.pick<std::int64_t>({1, 2, 2, 2, 2, 2, 2, 3});
  Sizes out;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    out.push_back(dice.one_in(4) ? 1 : dice.between(1, rank == 3 ? 4 : 9));
  return out;
}

std::int64_t any_channels(Dice& dice) {
  return dice.one_in(2) ? dice.between(1, 40)
                        : dice.pick<std::int64_t>({1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33});
}

Shape output_shape(const ConvShape& shape) {
  Shape out{shape.batch, shape.group * shape.out_per_group};
  for (std::size_t axis = 0; axis < shape.in.size(); ++axis) out.push_back(out_size(shape, axis));
  return out;
}

Scaling any_scaling(Dice& dice) {
  return dice.pick<Scaling>({Scaling::kTypical, Scaling::kTypical, Scaling::kTypical,
                             Scaling::kTies, Scaling::kHuge, Scaling::kWrapping});
}

// One or two convolutions, channels first, and a sum.
class Network {
 public:
  Network(Dice& dice, std::string name) : dice_(dice), name_(std::move(name)) {
    model_.opset("com.microsoft", 1);
    type_ = any_8bit(dice_);
    at_ = {type_, 0.02F, any_zero_point(dice_, type_)};
    shape_ = {dice_.one_in(6) ? 2 : 1, any_channels(dice_)};
    for (const std::int64_t size : any_image(dice_)) shape_.push_back(size);
    model_.input("x", type_, {shape_.begin(), shape_.end()});
    inputs_.push_back(random_bytes(dice_, type_, shape_));
  }

  Case finish() {
    convolution();
    if (dice_.one_in(4)) convolution();
    if (dice_.one_in(24)) sum();  // proofs of sums in integers take a fifth of a second
    model_.output(value_);
    return {name_, model_.bytes(), std::move(inputs_)};
  }

 private:
  void convolution() {
    const Sizes in(shape_.begin() + 2, shape_.end());
    const ConvShape shape = any_window_shape(dice_, Kind::kQLinearConv, shape_[0], shape_[1], in);
    const ConvNode node(shape, at_, any_scaling(dice_), dice_);
    const std::string y = cat("y", ++count_);
    node.add(model_, value_, y, y + "_");
    name_ += cat("_", node.describe());
    std::tie(value_, at_, shape_) = std::tuple(y, node.y(), output_shape(shape));
  }

  void sum() {
    const QuantizedActivation other{at_.type, at_.scale * 0.7F, any_zero_point(dice_, at_.type)};
    const QuantizedActivation result{at_.type, at_.scale + other.scale,
                                     any_zero_point(dice_, at_.type)};
    model_.input("r", other.type, {shape_.begin(), shape_.end()});
    inputs_.push_back(random_bytes(dice_, other.type, shape_));
    add_activation(model_, "own", at_);
    add_activation(model_, "other", other);
    add_activation(model_, "sum", result);
    model_.node("QLinearAdd",
                {value_, "own_scale", "own_zero_point", "r", "other_scale", "other_zero_point",
                 "sum_scale", "sum_zero_point"},
                {"s"}, {}, "com.microsoft");
    value_ = "s";
    name_ += "_sum";
  }

  Dice& dice_;
  ModelBuilder model_{13};
  std::string name_, value_ = "x";
  DType type_ = DType::kU8;
  QuantizedActivation at_;
  Shape shape_;
  std::vector<Tensor> inputs_;
  int count_ = 0;
};

Case wide_pads(int index) {
  Dice dice(static_cast<std::uint64_t>(index) + 14'000'000);
  const std::string name = cat("wide_pads_", index);
  if (!dice.one_in(6)) return Network(dice, name).finish();
  const Kind kind = dice.one_in(3) ? Kind::kConvInteger : Kind::kTransposed;
  const std::int64_t batch = dice.one_in(6) ? 2 : 1, channels = any_channels(dice);
  ConvShape shape = any_window_shape(dice, kind, batch, channels, any_image(dice));
  shape.channels_last = kind == Kind::kTransposed;
  return conv_case(shape, any_scaling(dice), name, dice);
}

}  // namespace

std::vector<Case> convolutions_with_wide_pads(int first, int count) {
  std::vector<Case> out;
  for (int index = first; index < first + count; ++index) out.push_back(wide_pads(index));
  return out;
}

Case depthwise_plane(std::int64_t channels, const std::vector<std::int64_t>& in,
                     const std::vector<std::int64_t>& kernel, const std::vector<std::int64_t>& pads,
                     const std::vector<std::int64_t>& dilation, int seed) {
  Dice dice(static_cast<std::uint64_t>(seed) + 15'000'000);
  ConvShape shape;
  shape.group = channels;
  shape.in = in;
  shape.kernel = kernel;
  shape.stride = {1, 1};
  shape.dilation = dilation;
  shape.pad_begin = {pads[0], pads[1]};
  shape.pad_end = {pads[2], pads[3]};
  return conv_case(shape, Scaling::kTypical, "depthwise_plane", dice);
}

Case padded_on_one_side(int side, std::int64_t pad) {
  std::vector<std::int64_t> pads(4, 0);
  pads[static_cast<std::size_t>(side)] = pad;
  return depthwise_plane(8, {1, 1}, {1, 1}, pads, {1, 1}, side);
}

}  // namespace etch
