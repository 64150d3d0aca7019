// See padding_cases.h.
#include "tests/support/padding_cases.h"

#include <algorithm>

#include "compiler/base/text.h"

namespace etch {

namespace {

void add_padded_axis(ConvShape& shape, Dice& dice) {
  const std::int64_t kernel = dice.pick<std::int64_t>({1, 2, 3, 3, 3, 4, 5});
  const std::int64_t dilation = dice.one_in(4) ? 2 : 1;
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  const std::int64_t most_pad = std::min<std::int64_t>(reach - 1, 3);
  const std::int64_t begin = dice.between(0, most_pad);
  const std::int64_t end = dice.one_in(2) ? begin : dice.between(0, most_pad);
  shape.kernel.push_back(kernel);
  shape.dilation.push_back(dilation);
  shape.stride.push_back(dice.one_in(3) ? 2 : 1);
  shape.pad_begin.push_back(begin);
  shape.pad_end.push_back(end);
  shape.in.push_back(std::max(dice.between(1, 17), reach - begin - end));
}

}  // namespace

std::vector<Case> convolutions_on_small_maps(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 11'000'000);
    ConvShape shape;
    shape.group = dice.one_in(4) ? 2 : 1;
    shape.in_per_group = dice.pick<std::int64_t>({4, 8, 12, 16, 32, 64});
    shape.out_per_group = dice.pick<std::int64_t>({1, 5, 16, 24, 32, 48, 56, 64, 72});
    const std::int64_t rank = dice.pick<std::int64_t>({1, 2, 2, 2, 2, 2, 2, 3});
    for (std::int64_t axis = 0; axis < rank; ++axis) add_padded_axis(shape, dice);
    if (rank == 3) {
      shape.in[0] = shape.kernel[0] = shape.stride[0] = shape.dilation[0] = 1;
      shape.pad_begin[0] = shape.pad_end[0] = 0;
      shape.in[0] = dice.between(1, 3);
    }
    shape.batch = dice.one_in(5) ? 2 : 1;
    shape.channels_last = dice.one_in(4);
    if (rank < 3 && dice.one_in(6))
      shape.auto_pad = dice.pick<std::string>({"SAME_UPPER", "SAME_LOWER"});
    const auto scaling =
        dice.pick<Scaling>({Scaling::kTypical, Scaling::kTypical, Scaling::kTypical, Scaling::kTies,
                            Scaling::kHuge, Scaling::kWrapping});
    out.push_back(conv_case(shape, scaling, cat("small_map_", index), dice));
  }
  return out;
}

Case small_map(std::int64_t size, std::int64_t channels, std::int64_t filters, int seed) {
  Dice dice(static_cast<std::uint64_t>(seed) + 12'000'000);
  ConvShape shape;
  shape.in_per_group = channels;
  shape.out_per_group = filters;
  shape.in = {size, size};
  shape.kernel = {3, 3};
  shape.stride = shape.dilation = shape.pad_begin = shape.pad_end = {1, 1};
  return conv_case(shape, Scaling::kTypical, cat("map_", size), dice);
}

}  // namespace etch
