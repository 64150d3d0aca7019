// See grouped_cases.h.
#include "tests/support/grouped_cases.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/conv_node.h"

namespace etch {

namespace {

using Size = std::int64_t;

void add_grouped_axis(ConvShape& shape, Size kernel, Size stride, Size dilation, Size in,
                      Dice& dice) {
  const Size reach = (kernel - 1) * dilation + 1;
  const bool wide = dice.one_in(6);
  const Size begin = dice.between(0, wide ? reach + 2 : reach / 2);
  const Size end = dice.between(0, wide ? reach + 2 : reach / 2);
  shape.kernel.push_back(kernel);
  shape.stride.push_back(stride);
  shape.dilation.push_back(dilation);
  shape.pad_begin.push_back(begin);
  shape.pad_end.push_back(end);
  shape.in.push_back(std::max(in, reach - begin - end));
}

// Whose weights and zero points are drawn with the case: half of them need 9 bits.
void set_kind(ConvShape& shape, int index) {
  if (index % 3 == 0) return;
  shape.kind = ConvShape::Kind::kConvInteger;
  if (index % 3 == 1) shape.at_run_time = ConvShape::AtRunTime::kZeroPointOfX;
}

Scaling scaling_of(Dice& dice) {
  return dice.pick<Scaling>({Scaling::kTypical, Scaling::kTypical, Scaling::kTies, Scaling::kHuge,
                             Scaling::kWrapping, Scaling::kSaturating});
}

constexpr std::uint64_t kSeed = 12'000'000;

}  // namespace

std::vector<Case> depthwise_kernels(int every) {
  std::vector<Case> out;
  int index = 0;
  for (const Size rows : {1, 2, 3, 4, 5, 6, 7}) {
    for (const Size cols : {1, 2, 3, 4, 5}) {
      for (const Size stride : {1, 2}) {
        for (const Size dilation : {1, 2}) {
          for (const Size channels : {2, 5, 16, 24, 64, 70}) {
            if (index++ % every != 0) continue;
            Dice dice(kSeed + static_cast<std::uint64_t>(index));
            ConvShape shape;
            const Size planes = dice.pick<Size>({0, 0, 0, 2, 3});
            if (planes > 0) add_grouped_axis(shape, planes, 1, dice.between(1, 2), 3, dice);
            const bool line = rows == 1 && planes == 0 && dice.one_in(2);
            if (!line) add_grouped_axis(shape, rows, stride, dilation, dice.between(1, 7), dice);
            add_grouped_axis(shape, cols, stride, dilation, dice.between(1, 9), dice);
            set_kind(shape, index);
            shape.group = channels;
            shape.batch = dice.one_in(8) ? 2 : 1;
            out.push_back(conv_case(shape, scaling_of(dice), cat("kernel_", index), dice));
          }
        }
      }
    }
  }
  return out;
}

namespace {

// `count` convolutions of one or two axes whose groups and channels `choose` sets.
struct Most {
  Size kernel, stride, dilation, size;
};
template <class Choose>
std::vector<Case> drawn(int count, std::uint64_t first_seed, const char* stem, const Most& most,
                        Choose choose) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(kSeed + first_seed + static_cast<std::uint64_t>(index));
    ConvShape shape;
    for (Size axis = dice.between(1, 2); axis > 0; --axis) {
      add_grouped_axis(shape, dice.between(1, most.kernel), dice.between(1, most.stride),
                       dice.between(1, most.dilation), dice.between(1, most.size), dice);
    }
    set_kind(shape, index);
    choose(shape, dice);
    out.push_back(conv_case(shape, scaling_of(dice), cat(stem, index), dice));
  }
  return out;
}

}  // namespace

std::vector<Case> grouped_convolutions(int count) {
  return drawn(count, 100'000, "grouped_", {4, 2, 2, 7}, [](ConvShape& shape, Dice& dice) {
    shape.group = dice.between(2, 7);
    shape.in_per_group = dice.between(1, 5);
    shape.out_per_group = dice.between(1, 9);
    shape.batch = dice.one_in(8) ? 2 : 1;
  });
}

std::vector<Case> random_grouped_convolutions(int count) {
  return drawn(count, 200'000, "random_", {9, 3, 3, 16}, [](ConvShape& shape, Dice& dice) {
    shape.group = dice.between(2, 100);
    if (dice.one_in(3)) shape.out_per_group = dice.between(1, 3);
  });
}

std::vector<Case> transposed_depthwise(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(kSeed + 400'000 + static_cast<std::uint64_t>(index));
    ConvShape shape;
    shape.kind = ConvShape::Kind::kTransposed;
    shape.channels_last = true;
    shape.group = dice.pick<Size>({2, 8, 16, 16, 24, 32, 64, 70});
    for (Size axis = dice.pick<Size>({1, 2, 2, 2, 3}); axis > 0; --axis) {
      const Size kernel = dice.between(1, 4), stride = dice.between(1, 3);
      const Size dilation = dice.between(1, 2), in = dice.between(2, 9);
      const Size reach = (kernel - 1) * dilation;
      const Size full = (in - 1) * stride + reach + 1;
      shape.kernel.push_back(kernel);
      shape.stride.push_back(stride);
      shape.dilation.push_back(dilation);
      shape.in.push_back(in);
      shape.pad_begin.push_back(dice.between(0, std::min(reach, (full - 1) / 2)));
      shape.pad_end.push_back(dice.between(0, std::min(reach, (full - 1) / 2)));
    }
    shape.batch = dice.one_in(8) ? 2 : 1;
    out.push_back(conv_case(shape, scaling_of(dice), cat("transposed_", index), dice));
  }
  return out;
}

std::vector<Case> shared_inputs(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(kSeed + 300'000 + static_cast<std::uint64_t>(index));
    ConvShape shape;
    for (int axis = 0; axis < 2; ++axis) add_grouped_axis(shape, 3, 1, 1, dice.between(2, 7), dice);
    shape.kind = ConvShape::Kind::kConvInteger;
    shape.at_run_time = ConvShape::AtRunTime::kZeroPointOfX;
    shape.group = dice.between(2, 20);
    const DType type = any_8bit(dice);
    ModelBuilder model(13);
    const Shape x = input_shape(shape);
    model.input("x", type, {x.begin(), x.end()});
    Case each{cat("shared_", index), {}, {random_bytes(dice, type, x)}};
    for (const char* prefix : {"a_", "b_"}) {
      const ConvNode node(shape, type, Scaling::kTypical, dice);
      for (Tensor& input : node.add(model, "x", cat(prefix, "y"), prefix))
        each.inputs.push_back(std::move(input));
      model.output(cat(prefix, "y"));
    }
    each.model = model.bytes();
    out.push_back(std::move(each));
  }
  return out;
}

}  // namespace etch
