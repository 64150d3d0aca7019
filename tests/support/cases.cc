// Convolutions of all kinds; see cases.h.
#include "tests/support/cases.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/conv_node.h"

namespace etch {

namespace {
using Size = std::int64_t;

struct AxisChoice {
  std::int64_t kernel, stride, dilation, pad_begin, pad_end;
};

std::vector<AxisChoice> all_axes() {
  std::vector<AxisChoice> out;
  for (std::int64_t kernel = 1; kernel <= 3; ++kernel) {
    for (std::int64_t stride = 1; stride <= 2; ++stride) {
      for (std::int64_t dilation = 1; dilation <= 2; ++dilation) {
        for (std::int64_t begin = 0; begin <= 2; ++begin) {
          for (std::int64_t end = 0; end <= 2; ++end)
            out.push_back({kernel, stride, dilation, begin, end});
        }
      }
    }
  }
  return out;
}

struct ChannelChoice {
  std::int64_t group, in_per_group, out_per_group;
};

// Group 1, 2 and depthwise with up to 5 channels on each side.
std::vector<ChannelChoice> all_channels() {
  std::vector<ChannelChoice> out;
  for (std::int64_t in = 1; in <= 5; ++in) {
    for (std::int64_t m = 1; m <= 5; ++m) {
      out.push_back({1, in, m});
      if (in % 2 == 0 && m % 2 == 0) out.push_back({2, in / 2, m / 2});
      if (in > 2 && m % in == 0) out.push_back({in, 1, m / in});
    }
  }
  return out;
}

void set_channels(ConvShape& shape, const ChannelChoice& channels) {
  shape.group = channels.group;
  shape.in_per_group = channels.in_per_group;
  shape.out_per_group = channels.out_per_group;
}

// Appends an axis that has at least one output position.
void add_axis(ConvShape& shape, const AxisChoice& axis, std::int64_t in) {
  const std::int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
  shape.in.push_back(std::max(in, reach - axis.pad_begin - axis.pad_end));
  shape.kernel.push_back(axis.kernel);
  shape.stride.push_back(axis.stride);
  shape.dilation.push_back(axis.dilation);
  shape.pad_begin.push_back(axis.pad_begin);
  shape.pad_end.push_back(axis.pad_end);
}

Scaling any_scaling(Dice& dice) {
  return dice.pick<Scaling>(
      {Scaling::kTypical, Scaling::kTypical, Scaling::kTypical, Scaling::kTypical, Scaling::kTies,
       Scaling::kTies, Scaling::kSaturating, Scaling::kHuge, Scaling::kWrapping, Scaling::kTiny});
}

// An axis of a transposed convolution that leaves at least one output position.
void add_transposed_axis(ConvShape& shape, Dice& dice) {
  const std::int64_t in = dice.between(1, 6);
  const std::int64_t kernel = dice.between(1, 4);
  const std::int64_t stride = dice.between(1, 3);
  const std::int64_t dilation = dice.between(1, 2);
  const std::int64_t output_padding = dice.between(0, stride - 1);
  const std::int64_t full = (in - 1) * stride + (kernel - 1) * dilation + 1 + output_padding;
  const std::int64_t begin = dice.between(0, std::min<std::int64_t>(2, full - 1));
  const std::int64_t end = dice.between(0, std::min<std::int64_t>(2, full - 1 - begin));
  add_axis(shape, {kernel, stride, dilation, begin, end}, in);
  shape.in.back() = in;
  shape.output_padding.push_back(output_padding);
}
}  // namespace

Tensor random_bytes(Dice& dice, DType type, Shape shape, int least, int most) {
  Tensor out(type, std::move(shape));
  for (std::byte& byte : out.mutable_bytes())
    byte = static_cast<std::byte>(static_cast<std::uint8_t>(dice.between(least, most)));
  return out;
}

Tensor random_bytes(Dice& dice, DType type, Shape shape) {
  return random_bytes(dice, type, std::move(shape), static_cast<int>(min_of(type)),
                      static_cast<int>(max_of(type)));
}

std::vector<Case> small_line_convolutions(int every) {
  std::vector<Case> out;
  int index = 0;
  for (const AxisChoice& axis : all_axes()) {
    for (const ChannelChoice& channels : all_channels()) {
      if (++index % every != 0) continue;
      Dice dice(static_cast<std::uint64_t>(index));
      ConvShape shape;
      set_channels(shape, channels);
      add_axis(shape, axis, dice.between(1, 7));
      shape.batch = dice.between(1, 2);
      shape.channels_last = dice.one_in(4);
      out.push_back(conv_case(shape, any_scaling(dice), cat("line_", index), dice));
    }
  }
  return out;
}

std::vector<Case> small_plane_convolutions(int every) {
  std::vector<Case> out;
  int index = 0;
  for (const AxisChoice& rows : all_axes()) {
    for (const AxisChoice& cols : all_axes()) {
      if (++index % every != 0) continue;
      Dice dice(static_cast<std::uint64_t>(index) + 1'000'000);
      ConvShape shape;
      set_channels(shape, dice.pick(all_channels()));
      add_axis(shape, rows, dice.between(1, 6));
      add_axis(shape, cols, dice.between(1, 6));
      shape.batch = dice.between(1, 2);
      shape.channels_last = dice.one_in(4);
      out.push_back(conv_case(shape, any_scaling(dice), cat("plane_", index), dice));
    }
  }
  return out;
}

std::vector<Case> small_volume_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 2'000'000);
    ConvShape shape;
    set_channels(shape, dice.pick(all_channels()));
    for (int axis = 0; axis < 3; ++axis) add_axis(shape, dice.pick(all_axes()), dice.between(1, 4));
    shape.batch = dice.between(1, 2);
    shape.channels_last = dice.one_in(4);
    out.push_back(conv_case(shape, any_scaling(dice), cat("volume_", index), dice));
  }
  return out;
}

std::vector<Case> small_transposed_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 3'000'000);
    ConvShape shape;
    shape.kind = ConvShape::Kind::kTransposed;
    shape.channels_last = true;
    set_channels(shape, dice.pick(all_channels()));
    const std::int64_t rank = dice.pick<std::int64_t>({1, 2, 2, 3});
    for (std::int64_t axis = 0; axis < rank; ++axis) add_transposed_axis(shape, dice);
    shape.batch = dice.between(1, 2);
    out.push_back(conv_case(shape, any_scaling(dice), cat("transposed_", index), dice));
  }
  return out;
}

std::vector<Case> convolutions_of_padding() {
  std::vector<Case> out;
  for (const Size group : {1, 3}) {
    for (const auto kind : {ConvShape::Kind::kTransposed, ConvShape::Kind::kQLinearConv}) {
      const bool transposed = kind == ConvShape::Kind::kTransposed;
      Dice dice(static_cast<std::uint64_t>(9'000'000 + group));
      ConvShape shape;
      shape.kind = kind;
      shape.channels_last = transposed;
      shape.group = group;
      shape.in = shape.kernel = shape.dilation = {1};
      shape.stride = {transposed ? 3 : 20};
      shape.pad_begin = {transposed ? 2 : 10};
      shape.pad_end = {transposed ? 0 : 15};
      if (transposed) shape.output_padding = {2};
      out.push_back(conv_case(shape, Scaling::kTypical, "padding", dice));
    }
  }
  return out;
}

std::vector<Case> larger_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 4'000'000);
    ConvShape shape;
    // Pads wider than any halo give many regions: those cases have few channels.
    const bool wide_pads = dice.one_in(12);
    const std::int64_t most_channels = wide_pads ? 6 : 100;
    const bool depthwise = dice.one_in(3);
    shape.group = depthwise ? dice.between(2, most_channels) : dice.pick<Size>({1, 1, 1, 2, 3});
    shape.in_per_group = depthwise ? 1 : dice.between(1, most_channels / shape.group);
    shape.out_per_group = depthwise ? 1 : dice.between(1, most_channels / shape.group);
    const Size rank = wide_pads ? dice.between(1, 2) : dice.pick<Size>({1, 2, 2, 2, 2, 2, 3});
    const Size most_pixels = rank == 1 ? 40 : rank == 2 ? 18 : 5;
    for (Size axis = 0; axis < rank; ++axis) {
      AxisChoice choice = dice.pick(all_axes());
      if (dice.one_in(2)) choice = {3, choice.stride, 1, 1, 1};
      if (dice.one_in(5)) choice = {5, choice.stride, 1, choice.pad_begin, choice.pad_end};
      if (wide_pads && axis == 0) choice = {dice.between(2, 9), 3, 1, 10, 9};
      add_axis(shape, choice, dice.between(1, most_pixels));
    }
    shape.batch = dice.one_in(5) ? 2 : 1;
    shape.channels_last = dice.one_in(4);
    if (dice.one_in(6)) shape.auto_pad = dice.pick<std::string>({"SAME_UPPER", "SAME_LOWER"});
    out.push_back(conv_case(shape, any_scaling(dice), cat("larger_", index), dice));
  }
  return out;
}

namespace {
// One to three axes of any kind.
ConvShape any_small_shape(ConvShape::Kind kind, Dice& dice) {
  ConvShape shape;
  shape.kind = kind;
  const bool transposed = kind == ConvShape::Kind::kTransposed;
  shape.channels_last = transposed || (kind == ConvShape::Kind::kQLinearConv && dice.one_in(4));
  set_channels(shape, dice.pick(all_channels()));
  const Size rank = dice.pick<Size>({1, 2, 2, 3});
  for (Size axis = 0; axis < rank; ++axis) {
    if (transposed) {
      add_transposed_axis(shape, dice);
    } else {
      add_axis(shape, dice.pick(all_axes()), dice.between(1, rank == 3 ? 4 : 7));
    }
  }
  shape.batch = dice.between(1, 2);
  return shape;
}
}  // namespace

std::vector<Case> integer_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 7'000'000);
    ConvShape shape = any_small_shape(ConvShape::Kind::kConvInteger, dice);
    if (dice.one_in(2)) shape.at_run_time = ConvShape::AtRunTime::kZeroPointOfX;
    if (dice.one_in(4)) shape.in_per_group = dice.between(1, 40);
    if (dice.one_in(4)) shape.out_per_group = dice.between(1, 40);
    out.push_back(conv_case(shape, Scaling::kTypical, cat("integer_", index), dice));
  }
  return out;
}

std::vector<Case> nearly_narrow_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 9'000'000);
    const std::int64_t in = dice.between(1, 12);
    const std::int64_t out_channels = dice.between(1, 20);
    const std::int64_t size = dice.between(4, 9);
    const std::int64_t kernel = dice.between(1, 4);
    Tensor w = random_bytes(dice, DType::kU8, {out_channels, in, kernel, kernel}, 0, 240);
    const auto weights = w.as<std::uint8_t>();
    for (int wide = 0; wide < index % 3 + 1; ++wide)
      weights[static_cast<std::size_t>(dice.between(0, w.size() - 1))] = 255;
    ModelBuilder model(13);
    model.input("x", DType::kU8, {1, in, size, size}).initializer("w", w);
    model.initializer("x_zero", Tensor::of<std::uint8_t>({}, {7}));
    model.initializer("w_zero", Tensor::of<std::uint8_t>({}, {113}));
    const std::vector<std::int64_t> pads(4, dice.between(0, kernel - 1));
    model.node("ConvInteger", {"x", "w", "x_zero", "w_zero"}, {"y"}, {{"pads", pads}}).output("y");
    out.push_back({cat("nearly_narrow_", index),
                   model.bytes(),
                   {random_bytes(dice, DType::kU8, {1, in, size, size})}});
  }
  return out;
}

std::vector<Case> run_time_convolutions(int count) {
  using Kind = ConvShape::Kind;
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 8'000'000);
    const Kind kind = dice.pick<Kind>({Kind::kQLinearConv, Kind::kTransposed, Kind::kConvInteger});
    ConvShape shape = any_small_shape(kind, dice);
    shape.at_run_time =
        dice.one_in(4) ? ConvShape::AtRunTime::kZeroPointOfX : ConvShape::AtRunTime::kEverything;
    out.push_back(conv_case(shape, any_scaling(dice), cat("run_time_", index), dice));
  }
  return out;
}

Case conv_case(const ConvShape& shape, Scaling scaling, std::string name, Dice& dice) {
  ModelBuilder model(13);
  model.opset("com.microsoft", 1).opset("com.ms.internal.nhwc", 1);
  const DType type = any_8bit(dice);
  const Shape x = input_shape(shape);
  model.input("x", type, {x.begin(), x.end()});
  ConvNode node(shape, type, scaling, dice);
  std::vector<Tensor> inputs{random_bytes(dice, type, x)};
  for (Tensor& tensor : node.add(model, "x", "y", "")) inputs.push_back(std::move(tensor));
  model.output("y");
  return {cat(name, "_", node.describe()), model.bytes(), std::move(inputs)};
}

}  // namespace etch
