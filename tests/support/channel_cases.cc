// See channel_cases.h.
#include "tests/support/channel_cases.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "tests/support/conv_node.h"

namespace etch {

namespace {

std::vector<std::int64_t> channel_counts() {
  std::vector<std::int64_t> out;
  for (std::int64_t channels = 1; channels <= 40; ++channels) out.push_back(channels);
  out.insert(out.end(), {48, 64, 96, 144});
  return out;
}

void add_plane(ConvShape& shape, Dice& dice, std::int64_t most_rows, std::int64_t most_cols) {
  const std::int64_t stride = dice.between(1, 3);
  const std::int64_t kernel = dice.pick<std::int64_t>({1, 2, 3, 3, 3, 4, 5});
  for (const std::int64_t most : {most_rows, most_cols}) {
    const std::int64_t begin = dice.between(0, kernel / 2), end = dice.between(0, kernel / 2);
    const std::int64_t dilation = dice.one_in(8) ? 2 : 1;
    const std::int64_t reach = (kernel - 1) * dilation + 1;
    shape.kernel.push_back(kernel);
    shape.stride.push_back(dice.one_in(10) ? dice.between(1, 3) : stride);
    shape.dilation.push_back(dilation);
    shape.pad_begin.push_back(begin);
    shape.pad_end.push_back(end);
    shape.in.push_back(std::max(dice.between(1, most), reach - begin - end));
  }
}

ConvShape::AtRunTime at_run_time_of(ConvShape::Kind kind) {
  return kind == ConvShape::Kind::kConvInteger ? ConvShape::AtRunTime::kZeroPointOfX
                                               : ConvShape::AtRunTime::kOnlyX;
}

template <class Channels>
std::vector<Case> cases_of_counts(const char* name, int each, std::uint64_t seed,
                                  Channels set_channels) {
  std::vector<Case> out;
  for (const std::int64_t channels : channel_counts()) {
    for (int i = 0; i < each; ++i) {
      Dice dice(seed + static_cast<std::uint64_t>(1000 * channels + i));
      ConvShape shape;
      set_channels(shape, channels, dice);
      add_plane(shape, dice, 7, channels < 20 ? 50 : 24);
      shape.batch = dice.one_in(8) ? 2 : 1;
      shape.channels_last = dice.one_in(2) && shape.kind == ConvShape::Kind::kQLinearConv;
      const auto scaling =
          dice.pick<Scaling>({Scaling::kTypical, Scaling::kTypical, Scaling::kTies, Scaling::kHuge,
                              Scaling::kWrapping, Scaling::kSaturating});
      out.push_back(conv_case(shape, scaling, cat(name, "_", channels, "_", i), dice));
    }
  }
  return out;
}

}  // namespace

std::vector<Case> depthwise_channel_counts(int each) {
  return cases_of_counts("depthwise", each, 8'000'000,
                         [](ConvShape& shape, std::int64_t channels, Dice&) {
                           shape.group = channels;
                           shape.in_per_group = shape.out_per_group = 1;
                         });
}

std::vector<Case> depthwise_integers(int each) {
  const auto set_channels = [](ConvShape& shape, std::int64_t channels, Dice& dice) {
    shape.kind = ConvShape::Kind::kConvInteger;
    shape.group = channels;
    shape.in_per_group = shape.out_per_group = 1;
    if (!dice.one_in(3)) shape.at_run_time = at_run_time_of(shape.kind);
  };
  return cases_of_counts("depthwise_integers", each, 8'500'000, set_channels);
}

std::vector<Case> dense_channel_counts(int each) {
  return cases_of_counts(
      "dense", each, 9'000'000, [](ConvShape& shape, std::int64_t channels, Dice& dice) {
        shape.group = dice.one_in(8) ? 2 : 1;
        shape.in_per_group = dice.pick<std::int64_t>({1, 2, 3, 3, 4, 5, 8, 13, 24});
        shape.out_per_group = channels;
      });
}

std::vector<Case> whole_pixels(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(15'700'000 + static_cast<std::uint64_t>(index));
    ConvShape shape;
    shape.in_per_group = dice.between(64, 150);
    shape.out_per_group = dice.between(30, 120);
    shape.channels_last = index % 6 == 0;
    const int axes = shape.channels_last ? 2 : 1 + index / 3 % 3;
    for (int axis = 0; axis < axes; ++axis) {
      shape.in.push_back(dice.between(1, 7));
      shape.kernel.push_back(1);
      shape.stride.push_back(1);
      shape.dilation.push_back(1);
      shape.pad_begin.push_back(0);
      shape.pad_end.push_back(0);
    }
    if (index % 3 > 0) shape.kind = ConvShape::Kind::kConvInteger;
    if (index % 3 == 1) shape.at_run_time = ConvShape::AtRunTime::kZeroPointOfX;
    const auto scaling =
        dice.pick<Scaling>({Scaling::kTypical, Scaling::kTies, Scaling::kHuge, Scaling::kWrapping});
    out.push_back(conv_case(shape, scaling, cat("pixels_", index), dice));
  }
  return out;
}

std::vector<Case> wide_borders(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(15'800'000 + static_cast<std::uint64_t>(index));
    ConvShape shape;
    shape.group = dice.one_in(6) ? 2 : 1;
    shape.in_per_group = dice.pick<std::int64_t>({3, 4, 4, 8, 12, 16});
    shape.out_per_group = dice.pick<std::int64_t>({5, 9, 16, 33, 64, 70, 130});
    const int axes = dice.one_in(3) ? 2 : 1;
    for (int axis = 0; axis < axes; ++axis) {
      const std::int64_t dilation = dice.between(9, 12);
      const std::int64_t kernel = dice.between(2, axes == 2 ? 3 : 4);
      const std::int64_t reach = (kernel - 1) * dilation;
      const std::int64_t begin = dice.one_in(2) ? reach : dice.between(0, reach);
      shape.in.push_back(dice.between(10, axes == 2 ? 14 : 40));
      shape.kernel.push_back(kernel);
      shape.stride.push_back(dice.one_in(6) ? 2 : 1);
      shape.dilation.push_back(dilation);
      shape.pad_begin.push_back(begin);
      shape.pad_end.push_back(reach - begin);
    }
    if (index % 3 == 1) shape.kind = ConvShape::Kind::kConvInteger;
    shape.channels_last = index % 6 == 0;
    const auto scaling = dice.pick<Scaling>({Scaling::kTypical, Scaling::kTies, Scaling::kHuge});
    out.push_back(conv_case(shape, scaling, cat("borders_", index), dice));
  }
  return out;
}

std::vector<Case> transposed_to_few(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(15'900'000 + static_cast<std::uint64_t>(index));
    ConvShape shape;
    shape.kind = ConvShape::Kind::kTransposed;
    shape.channels_last = true;
    shape.in_per_group = dice.between(1, 21);
    shape.out_per_group = dice.between(1, 7);
    const int axes = dice.one_in(3) ? 1 : 2;
    for (int axis = 0; axis < axes; ++axis) {
      const std::int64_t stride = dice.between(axis + 1 < axes ? 1 : 2, 4);
      const std::int64_t in = dice.between(1, 9);
      const std::int64_t kernel = dice.between(1, 9);
      const std::int64_t begin = dice.between(0, std::min<std::int64_t>(kernel - 1, 4));
      // (in - 1) * stride + kernel + padding - begin - end, a multiple of the stride
      std::int64_t end = std::max<std::int64_t>(kernel - begin - stride, 0);
      if (dice.one_in(5)) end = dice.between(0, std::min<std::int64_t>(kernel - 1 - begin, 2));
      const std::int64_t padding = std::max<std::int64_t>(stride - kernel + begin, 0);
      shape.in.push_back(in);
      shape.kernel.push_back(kernel);
      shape.stride.push_back(stride);
      shape.dilation.push_back(1);
      shape.pad_begin.push_back(begin);
      shape.pad_end.push_back(end);
      shape.output_padding.push_back(std::min(padding, stride - 1));
    }
    shape.batch = dice.between(1, 2);
    const auto scaling =
        dice.pick<Scaling>({Scaling::kTypical, Scaling::kTypical, Scaling::kTies, Scaling::kHuge});
    out.push_back(conv_case(shape, scaling, cat("to_few_", index), dice));
  }
  return out;
}

std::vector<Case> depthwise_lines(int count) {
  std::vector<Case> out;
  for (int i = 0; i < count; ++i) {
    Dice dice(9'950'000 + static_cast<std::uint64_t>(i));
    const std::int64_t taps = dice.pick<std::int64_t>({2, 3, 4, 5, 9, 16, 17, 37});
    const bool dilated = dice.one_in(2);
    const std::int64_t dilation = dilated ? dice.pick<std::int64_t>({2, 3, 9}) : 1;
    ConvShape shape;
    shape.group = dice.pick<std::int64_t>({2, 3, 8, 13, 16, 33});
    shape.batch = dice.one_in(4) ? 2 : 1;
    shape.in = {dice.between(1, 40) + (dice.one_in(3) ? 0 : (taps - 1) * dilation)};
    shape.kernel = {taps};
    shape.stride = {dilated ? 1 : dice.between(1, 3)};
    shape.dilation = {dilation};
    const std::int64_t missing = (taps - 1) * dilation + 1 - shape.in[0];
    shape.pad_begin = {std::max<std::int64_t>(missing, dice.one_in(2) ? 0 : dice.between(0, 7))};
    shape.pad_end = {dice.one_in(2) ? 0 : dice.between(0, 7)};
    if (!dice.one_in(3)) {  // across: nothing but a size and a stride
      const int place = static_cast<int>(dice.between(0, 1));
      const auto insert = [&](std::vector<std::int64_t>& sizes, std::int64_t size) {
        sizes.insert(sizes.begin() + place, size);
      };
      insert(shape.in, dice.pick<std::int64_t>({1, 2, 7}));
      insert(shape.kernel, 1);
      insert(shape.stride, dice.one_in(4) ? 2 : 1);
      insert(shape.dilation, 1);
      insert(shape.pad_begin, 0);
      insert(shape.pad_end, 0);
    }
    if (dice.one_in(3)) shape.kind = ConvShape::Kind::kConvInteger;
    if (dice.one_in(2)) shape.at_run_time = at_run_time_of(shape.kind);
    out.push_back(conv_case(shape, Scaling::kTypical, cat("depthwise_line_", i), dice));
  }
  return out;
}

std::vector<Case> pixels_far_apart() {
  std::vector<Case> out;
  for (const std::int64_t stride : {1, 3}) {
    ConvShape shape;
    shape.group = stride == 1 ? 4100 : 1368;
    shape.in = {1, 6};
    shape.kernel = {1, 2};
    shape.stride = {1, stride};
    shape.dilation = {1, 1};
    shape.pad_begin = {0, stride == 1 ? 0 : 1};
    shape.pad_end = {0, 0};
    Dice dice(9'900'000 + static_cast<std::uint64_t>(stride));
    out.push_back(conv_case(shape, Scaling::kTypical, cat("far_apart_", stride), dice));
  }
  return out;
}

}  // namespace etch
