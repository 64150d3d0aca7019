// QLinearConvTranspose: compared, over many small shapes, with the forward convolution that it is
// equivalent to (docs/spec/reference.md section 10.3), and checked by hand in its layout.
#include "compiler/ops/qlinear_conv_transpose/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
using Wide = std::vector<std::int32_t>;

Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }
Tensor zero_point(DType type, std::int32_t value) { return narrowed(type, {}, {value}); }

TEST(QLinearConvTranspose, KeepsChannelsLastAndWeightsInOnnxOrder) {
  // One pixel with channels 1, 2; w[c][m][k] = 1..8 for 2 input, 2 output channels, 2 positions.
  OneNode node("QLinearConvTranspose", "com.ms.internal.nhwc", 1);
  node.input(narrowed(DType::kU8, {1, 1, 2}, {1, 2})).constant(scalar(1));
  node.constant(zero_point(DType::kU8, 0));
  node.constant(narrowed(DType::kS8, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})).constant(scalar(1));
  node.constant(zero_point(DType::kS8, 0)).constant(scalar(1)).constant(zero_point(DType::kU8, 0));
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 2, 2}, {11, 17, 14, 20}));
}

TEST(QLinearConvTranspose, OutputsThatNothingReachesHoldTheBias) {
  OneNode node("QLinearConvTranspose", "com.ms.internal.nhwc", 1);
  node.input(narrowed(DType::kU8, {1, 2, 1}, {13, 14})).constant(scalar(1));
  node.constant(zero_point(DType::kU8, 10)).constant(narrowed(DType::kS8, {1, 1, 1}, {1}));
  node.constant(scalar(1)).constant(zero_point(DType::kS8, 0)).constant(scalar(1));
  node.constant(zero_point(DType::kU8, 100)).constant(Tensor::of<std::int32_t>({1}, Wide{7}));
  node.attribute("strides", Ints{2}).attribute("output_padding", Ints{1});
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 4, 1}, {110, 107, 111, 107}));
}

// A random transposed convolution of one spatial axis.
struct Problem {
  std::int64_t in, kernel, stride, dilation, pad_begin, pad_end, output_padding;
  std::int64_t group, in_per_group, out_per_group;
  Wide x, w, w_zero, bias;
  std::vector<float> w_scale;

  std::int64_t channels() const { return group * in_per_group; }
  std::int64_t out_channels() const { return group * out_per_group; }
};

constexpr int kXZero = 117;

Problem random_problem(std::mt19937& random) {
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto fill = [&](Wide& values, std::int64_t count, int least, int most) {
    for (; count > 0; --count) values.push_back(static_cast<std::int32_t>(pick(least, most)));
  };
  Problem p;
  p.in = pick(1, 5);
  p.kernel = pick(1, 4);
  p.stride = pick(1, 3);
  p.dilation = pick(1, 3);
  p.output_padding = pick(0, std::max(p.stride, p.dilation) - 1);
  const std::int64_t reach = (p.kernel - 1) * p.dilation;
  p.pad_begin = pick(0, reach);  // full size is stride * (in - 1) + reach + 1 + output_padding
  p.pad_end = pick(0, reach - p.pad_begin);
  p.group = pick(1, 3);
  p.in_per_group = pick(1, 3);
  p.out_per_group = pick(1, 3);
  fill(p.x, p.in * p.channels(), 0, 255);
  fill(p.w, p.channels() * p.out_per_group * p.kernel, -128, 127);
  fill(p.w_zero, p.out_channels(), -20, 20);
  fill(p.bias, p.out_channels(), -5000, 5000);
  for (std::int64_t m = 0; m < p.out_channels(); ++m) {
    p.w_scale.push_back(0.001F * static_cast<float>(pick(1, 40)));
  }
  return p;
}

void add_parameters(const Problem& p, const Shape& w_shape, const Wide& w, OneNode& node) {
  const Shape per_channel{p.out_channels()};
  node.constant(scalar(0.05F)).constant(zero_point(DType::kU8, kXZero));
  node.constant(narrowed(DType::kS8, w_shape, w));
  node.constant(Tensor::of<float>(per_channel, p.w_scale));
  node.constant(narrowed(DType::kS8, per_channel, p.w_zero)).constant(scalar(0.4F));
  node.constant(zero_point(DType::kU8, 90));
  node.constant(Tensor::of<std::int32_t>(per_channel, p.bias));
  node.attribute("group", p.group).attribute("dilations", Ints{p.dilation});
}

Tensor run_transposed(const Problem& p) {
  OneNode node("QLinearConvTranspose", "com.ms.internal.nhwc", 1);
  node.input(narrowed(DType::kU8, {1, p.in, p.channels()}, p.x));
  add_parameters(p, {p.channels(), p.out_per_group, p.kernel}, p.w, node);
  node.attribute("strides", Ints{p.stride}).attribute("pads", Ints{p.pad_begin, p.pad_end});
  node.attribute("output_padding", Ints{p.output_padding});
  return node.run().at(0);
}

// w2[g * Mg + j][c][t] = w[g * Cg + c][j][K - 1 - t].
Wide mirrored_weights(const Problem& p) {
  Wide out;
  for (std::int64_t m = 0; m < p.out_channels(); ++m) {
    const std::int64_t g = m / p.out_per_group;
    for (std::int64_t c = 0; c < p.in_per_group; ++c) {
      const std::int64_t row = (g * p.in_per_group + c) * p.out_per_group + m % p.out_per_group;
      for (std::int64_t t = 0; t < p.kernel; ++t) {
        out.push_back(p.w[static_cast<std::size_t>(row * p.kernel + p.kernel - 1 - t)]);
      }
    }
  }
  return out;
}

// The same result from QLinearConv: stride - 1 samples of the zero point between the inputs, the
// kernel mirrored, and the pads counted from the other side. Zero points are put at the edges
// beforehand, more than needed, and cropped, so that no pad is negative.
Tensor run_equivalent(const Problem& p) {
  const std::int64_t reach = (p.kernel - 1) * p.dilation;
  const std::int64_t front = reach - p.pad_begin;
  const std::int64_t back = reach - p.pad_end + p.output_padding;
  const std::int64_t width = (p.in - 1) * p.stride + 1 + front + back;
  Wide x(static_cast<std::size_t>(width * p.channels()), kXZero);
  for (std::int64_t i = 0; i < p.in; ++i) {
    for (std::int64_t c = 0; c < p.channels(); ++c) {
      x[static_cast<std::size_t>((front + i * p.stride) * p.channels() + c)] =
          p.x[static_cast<std::size_t>(i * p.channels() + c)];
    }
  }
  OneNode node("QLinearConv", "com.ms.internal.nhwc", 1);
  node.input(narrowed(DType::kU8, {1, width, p.channels()}, x));
  add_parameters(p, {p.out_channels(), p.in_per_group, p.kernel}, mirrored_weights(p), node);
  return node.run().at(0);
}

TEST(QLinearConvTranspose, EqualsTheForwardConvolutionOfStuffedInput) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    const Problem p = random_problem(random);
    ASSERT_EQ(run_transposed(p), run_equivalent(p)) << "problem " << i << " of seed 7";
  }
}

TEST(QLinearConvTranspose, ExistsOnlyInTheNhwcDomain) {
  EXPECT_EQ(find_op("com.microsoft", "QLinearConvTranspose"), nullptr);
  EXPECT_EQ(find_op("", "QLinearConvTranspose"), nullptr);
  EXPECT_NE(find_op("com.ms.internal.nhwc", "QLinearConvTranspose"), nullptr);
}

TEST(QLinearConvTranspose, OtherTypesAreRefused) {
  OneNode node("QLinearConvTranspose", "com.ms.internal.nhwc", 1);
  node.input(Tensor(DType::kF32, {1, 1, 1})).constant(scalar(1));
  node.constant(zero_point(DType::kU8, 0)).constant(Tensor(DType::kS8, {1, 1, 1}));
  node.constant(scalar(1)).constant(zero_point(DType::kS8, 0)).constant(scalar(1));
  node.constant(zero_point(DType::kU8, 0));
  EXPECT_EQ(node.errors(), "E-TYPE: must be uint8, int8, got float32");
}

}  // namespace
}  // namespace etch
