// Convolutions that read zeros in place of the padding have the same bits as those that leave it
// out.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/kernels/products/floats/plan.h"
#include "templates/kernels/products/float_products.h"
#include "tests/support/float_pattern.h"

namespace etch {
namespace {

struct Layer {
  int group, in, out;  // in and out: per group
  int height, width, kernel, stride, pad, dilation = 1;
  rt::FloatEnd end = {1, 1, 0, 1, 0};
};

int outputs(const Layer& p, int in) {
  return (in + 2 * p.pad - (p.kernel - 1) * p.dilation - 1) / p.stride + 1;
}

// Two images, channels last.
rt::FloatConvShape shape_of(const Layer& p) {
  const int x = p.group * p.in, y = p.group * p.out;
  const int lines = outputs(p, p.height), line = outputs(p, p.width);
  rt::FloatConvShape s{};
  s.batch = 2, s.group = p.group, s.in = p.in, s.out = p.out, s.along = 2;
  s.x_channel = s.y_channel = 1;
  s.axis[0] = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  s.axis[1] = {p.height, p.kernel, lines, p.stride, p.dilation, p.pad, p.width * x, 0, line * y};
  s.axis[2] = {p.width, p.kernel, line, p.stride, p.dilation, p.pad, x, 0, y};
  s.x_image = p.height * p.width * x;
  s.y_image = lines * line * y;
  return s;
}

constexpr float kUntouched = 77;

// Calls expected(x, w, c, y) and actual(x, w, c, y).
template <class Expected, class Actual>
void expect_same_bits(const rt::FloatConvShape& s, const Expected& expected, const Actual& actual) {
  const int channels = s.group * s.out, taps = s.axis[1].kernel * s.axis[2].kernel;
  const auto x = float_pattern(2 * s.x_image), c = float_pattern(channels);
  const auto w = float_pattern(std::ptrdiff_t{channels} * s.in * taps);
  std::vector<float> y(static_cast<std::size_t>(2 * s.y_image) + 1, kUntouched);
  std::vector<float> other = y;
  expected(x.data(), w.data(), c.data(), other.data());
  actual(x.data(), w.data(), c.data(), y.data());
  ASSERT_EQ(y, other) << s.group << " groups, " << s.in << " -> " << s.out << " channels, "
                      << s.axis[1].in << " x " << s.axis[2].in << ", kernel " << s.axis[2].kernel
                      << ", stride " << s.axis[2].stride;
}

void expect_indirect(const Layer& p) {
  const rt::FloatConvShape s = shape_of(p);
  if (s.axis[1].out * s.axis[2].out < rt::kLeastIndirect) return;
  std::vector<float> zeros(static_cast<std::size_t>(s.in) + 1, kUntouched);
  expect_same_bits(
      s,
      [&](const float* x, const float* w, const float* c, float* y) {
        rt::float_conv(s, p.end, x, w, c, y);
      },
      [&](const float* x, const float* w, const float* c, float* y) {
        rt::float_indirect(s, p.end, x, w, c, y, zeros.data());
      });
  EXPECT_EQ(zeros.back(), kUntouched);
}

TEST(IndirectTiles, OfEveryMapHaveTheBitsOfRows) {
  for (int size = 1; size <= 12; ++size) {
    for (const int kernel : {1, 3, 5}) {
      for (const int stride : {1, 2})
        expect_indirect({1, 3, 70 + size, size, size + 1, kernel, stride, kernel / 2});
    }
  }
}

TEST(IndirectTiles, OfEveryNumberOfChannelsHaveTheBitsOfRows) {
  for (int out = 1; out <= 70; ++out) {
    expect_indirect({1 + out % 2, 2, out, 4, 5, 3, 1, 1, 1 + out % 3 / 2});
    expect_indirect({1, 2, out, 3, 3, 3, 1, 1, 1, {0.5F, 2, 0, 0, 0}});
    expect_indirect({1, 2, out, 3, 3, 3, 1, 1, 1, {1, 1, 0, 1, 1}});
    expect_indirect({1, 2, out, 3, 3, 3, 1, 1, 1, {1, 1, 0, 1, 2, 6.0F}});
  }
}

bool takes_indirect(const Layer& p, int lanes = 16) {
  FloatProductPlan plan;
  plan.shape = shape_of(p);
  return takes_indirect_tiles(plan, lanes);
}

TEST(IndirectTiles, AreTakenForMapsThatFillNoTiles) {
  EXPECT_TRUE(takes_indirect({1, 48, 192, 5, 5, 3, 1, 1}));
  EXPECT_TRUE(takes_indirect({1, 32, 128, 11, 11, 3, 1, 1}));
  EXPECT_FALSE(takes_indirect({1, 64, 64, 56, 56, 3, 1, 1}));
  EXPECT_FALSE(takes_indirect({1, 64, 64, 1, 2, 1, 1, 0}));
}

// An axis of size 1 whose padding comes first has no output that reads x.
TEST(IndirectTiles, AreNotTakenWhereDepthIsPadded) {
  FloatProductPlan plan;
  plan.shape = shape_of({1, 48, 192, 5, 5, 3, 1, 1});
  ASSERT_TRUE(takes_indirect_tiles(plan, 16));
  plan.shape.axis[0].pad = 1;
  plan.shape.axis[0].stride = 2;
  EXPECT_FALSE(takes_indirect_tiles(plan, 16));
}

void expect_lines(const Layer& p) {
  const rt::FloatConvShape s = shape_of(p);
  FloatProductPlan plan;
  plan.kind = FloatProductKind::kDepthwise;
  plan.shape = s;
  ASSERT_TRUE(takes_depthwise_lines(plan));
  with_depthwise_line(s, [&](const auto& function) {
    expect_same_bits(
        s,
        [&](const float* x, const float* w, const float* c, float* y) {
          rt::float_depthwise(s, p.end, x, w, c, y);
        },
        [&](const float* x, const float* w, const float* c, float* y) {
          function(s, p.end, x, w, c, y);
        });
  });
}

TEST(DepthwiseLines, OfEveryKernelAndWidthHaveTheBitsOfColumns) {
  for (int width = 5; width <= 40; ++width) {
    for (const int kernel : {3, 5, 7}) {
      for (const int stride : {1, 2})
        expect_lines({4 + width, 1, 1, 6, width, kernel, stride, kernel / 2});
    }
  }
}

TEST(DepthwiseLines, AreNotTakenWhereDepthIsPadded) {
  FloatProductPlan plan;
  plan.kind = FloatProductKind::kDepthwise;
  plan.shape = shape_of({20, 1, 1, 7, 9, 3, 1, 1});
  ASSERT_TRUE(takes_depthwise_lines(plan));
  plan.shape.axis[0].pad = 1;
  EXPECT_FALSE(takes_depthwise_lines(plan));
}

TEST(DepthwiseLines, MayHaveNoPaddingOrMuchOfIt) {
  for (int pad = 0; pad <= 4; ++pad) {
    expect_lines({20, 1, 1, 7, 9, 3, 1, pad, 1, {1, 1, 0, 0, 1}});
    expect_lines({20, 1, 1, 7, 9, 3, 2, pad, 1, {1, 1, 0, 1, 2, 3.0F}});
  }
}

}  // namespace
}  // namespace etch
