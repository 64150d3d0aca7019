// Convolutions of planes give the sums that the definition says, for lines of every length, and
// write nothing beside their results and their own memory.
#include "runtime/etch_float_planes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/etch_float_depthwise_planes.h"
#include "templates/kernels/products/float_products.h"

namespace etch::rt {
namespace {

struct Case {
  std::int32_t batch, group, in, out;  // in and out: per group
  std::int32_t height, width, kernel, stride, dilation, pad, relu;
  std::int32_t apart = 0;  // floats between the lines of y
  std::int32_t cut = 0;    // lines less of padding at the top
};

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

std::vector<float> values(std::int64_t n) {
  std::vector<float> out(size(n));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(i * 37 % 101) * 0.3F - 14.7F;
  return out;
}

FloatConvShape shape_of(const Case& p) {
  const auto out = [&](std::int32_t in, std::int32_t cut = 0) {
    return (in + 2 * p.pad - cut - (p.kernel - 1) * p.dilation - 1) / p.stride + 1;
  };
  FloatConvShape s{};
  s.batch = p.batch, s.group = p.group, s.in = p.in, s.out = p.out;
  s.along = 2, s.panel = 4;
  s.axis[0] = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  s.axis[2] = {p.width, p.kernel, out(p.width), p.stride, p.dilation, p.pad, 1, 0, 1};
  s.axis[1] = {p.height, p.kernel, out(p.height, p.cut),   p.stride, p.dilation, p.pad - p.cut,
               p.width,  0,        s.axis[2].out + p.apart};
  s.x_channel = p.height * p.width;
  s.x_image = s.x_channel * p.group * p.in;
  s.y_channel = s.axis[1].out * s.axis[1].y_step;
  s.y_image = s.y_channel * p.group * p.out;
  return s;
}

// The sum of output channel m at line i and position j.
float sum_at(const FloatConvShape& s, const float* x, const float* w, std::int32_t m,
             std::int32_t i, std::int32_t j) {
  const std::int32_t kernel = s.axis[1].kernel;
  float sum = 0;
  for (std::int32_t a = 0; a < kernel; ++a) {
    for (std::int32_t b = 0; b < kernel; ++b) {
      const std::int32_t h = tap_position(s.axis[1], false, i, a);
      const std::int32_t v = tap_position(s.axis[2], false, j, b);
      if (h < 0 || v < 0) continue;
      for (std::int32_t c = 0; c < s.in; ++c) {
        const float* const from = x + (m / s.out * s.in + c) * s.x_channel;
        sum = sum + opaque(from[h * s.axis[1].x_step + v] *
                           w[((m * s.in + c) * kernel + a) * kernel + b]);
      }
    }
  }
  return sum;
}

constexpr float kUntouched = 77;

std::vector<float> expected(const FloatConvShape& s, std::int32_t relu, const std::vector<float>& x,
                            const std::vector<float>& w, const std::vector<float>& c) {
  std::vector<float> y(size(s.batch * s.y_image), kUntouched);
  for (std::int32_t n = 0; n < s.batch; ++n) {
    for (std::int32_t m = 0; m < s.group * s.out; ++m) {
      for (std::int32_t i = 0; i < s.axis[1].out; ++i) {
        for (std::int32_t j = 0; j < s.axis[2].out; ++j) {
          const float result = sum_at(s, x.data() + n * s.x_image, w.data(), m, i, j) + c[size(m)];
          y[size(n * s.y_image + m * s.y_channel + i * s.axis[1].y_step + j)] =
              relu != 0 && result < 0 ? 0 : result;
        }
      }
    }
  }
  return y;
}

void expect_sums(const Case& p) {
  const FloatConvShape s = shape_of(p);
  const std::int32_t taps = p.kernel * p.kernel, channels = p.group * p.out;
  const auto x = values(p.batch * s.x_image), c = values(channels);
  const auto w = values(std::int64_t{channels} * p.in * taps);
  const bool depthwise = p.group > 1 && p.in == 1 && p.out == 1;
  std::vector<float> packed(w.size());
  pack_panels({p.group, taps, p.in, p.out, s.panel, std::int64_t{p.out} * p.in * taps, 1, taps,
               std::int64_t{p.in} * taps},
              w.data(), packed.data());
  const FloatEnd end{1, 1, 0, 1, p.relu};
  const std::int64_t memory = depthwise ? padded_plane(s).floats : floats_of_blocks(s);
  std::vector<float> lines(size(memory) + 1, kUntouched);
  std::vector<float> y(size(p.batch * s.y_image), kUntouched);
  if (depthwise) {
    with_depthwise_tile(depthwise_tile_of(s), [&](const auto& function) {
      function(s, end, x.data(), w.data(), c.data(), y.data(), lines.data());
    });
  } else {
    float_planes(s, end, x.data(), packed.data(), c.data(), y.data(), lines.data());
  }
  ASSERT_EQ(y, expected(s, p.relu, x, w, c))
      << p.in << " -> " << p.out << " channels, " << p.height << " x " << p.width << ", kernel "
      << p.kernel << ", stride " << p.stride;
  ASSERT_EQ(lines.back(), kUntouched);
}

TEST(FloatPlanes, OfEveryWidthAreTheSumsInOrder) {
  for (std::int32_t width = 3; width <= 100; ++width) {
    expect_sums({1, 1, 2, 1 + width % 13, 4, width, 3, 1, 1, 1, width % 2});
    expect_sums({2, 2, 3, 5, 1, width, 1, 1, 1, 0, 0});
    expect_sums({1, 1, 3, 7, 5, width, 3, 2, 1, width % 3, 1});
  }
}

TEST(FloatPlanes, OfStridesAndDilationsAreTheSumsInOrder) {
  for (std::int32_t stride = 1; stride <= 4; ++stride) {
    for (std::int32_t dilation = 1; dilation <= 3; ++dilation)
      expect_sums({1, 1, 2, 6, 11, 23, 4, stride, dilation, 4, 0});
  }
}

TEST(FloatPlanes, WhoseChannelsMeetInACacheAreCopied) {
  const Case p{1, 1, 8, 4, 32, 32, 1, 1, 1, 0, 0};
  EXPECT_TRUE(lines_of(shape_of(p)).copied);
  expect_sums(p);
}

TEST(FloatPlanes, WhoseCopiesAreManyAreTakenInBlocks) {
  for (const std::int32_t pad : {1, 2, 3, 4, 50}) {  // of 50, blocks are wholly padding
    const Case p{2, 1, 3, 4, 60, 240, 3, 1 + pad % 2, 1 + pad % 4 / 3, pad, 0};
    EXPECT_LT(floats_of_blocks(shape_of(p)), floats_of_lines(shape_of(p)));
    expect_sums(p);
  }
}

// As a Slice after a convolution is folded into it.
TEST(FloatPlanes, CutAtTheTopAreTheSumsInOrder) {
  for (std::int32_t cut = 1; cut <= 9; ++cut) {
    expect_sums({2, 1, 3, 4, 20, 40, 3, 1, 1, 0, 0, 0, cut});
    expect_sums({2, 1, 3, 4, 20, 40, 3, 2, 1, 1, 0, 0, cut});
    expect_sums({1, 1, 3, 4, 60, 240, 3, 1 + cut % 2, 1, 2, 0, 0, cut});
  }
}

TEST(DepthwisePlanes, OfEverySizeAreTheSumsInOrder) {
  for (std::int32_t width = 1; width <= 70; ++width) {
    const std::int32_t height = 1 + width % 17;
    expect_sums({2, 3, 1, 1, height, width, 3, 1, 1, 1, width % 2});
    expect_sums({1, 2, 1, 1, height, width, 5, 1, 1, 2, 0});
    expect_sums({1, 2, 1, 1, height, width, 3, 1, 2, 2, 0});
    expect_sums({1, 2, 1, 1, height, width, 7, 1, 1, 3, 1});
  }
}

TEST(DepthwisePlanes, TakeFewLinesTwice) {
  const auto rows_of = [](std::int32_t height, std::int32_t kernel) {
    return depthwise_tile_of(shape_of({1, 2, 1, 1, height, 9, kernel, 1, 1, kernel / 2, 0})).rows;
  };
  for (const std::int32_t height : {3, 5, 6, 9, 14}) EXPECT_EQ(rows_of(height, 3), 3) << height;
  for (const std::int32_t height : {4, 7, 8, 12, 28}) EXPECT_EQ(rows_of(height, 5), 4) << height;
  EXPECT_EQ(rows_of(2, 3), 1);
  EXPECT_EQ(rows_of(7, 7), 7);
  EXPECT_EQ(rows_of(6, 7), 3);
}

TEST(DepthwisePlanes, KeepTwoCopiesOfSmallPlanes) {
  const auto next = [](std::int32_t size, std::int32_t group) {
    return padded_plane(shape_of({1, group, 1, 1, size, size, 3, 1, 1, 1, 0})).next;
  };
  EXPECT_GT(next(8, 2), 0);
  EXPECT_EQ(next(8, 1), 0);
  EXPECT_EQ(next(64, 2), 0);
}

TEST(DepthwisePlanes, OfLinesThatAreApartLeaveWhatIsBetween) {
  for (std::int32_t width = 1; width <= 40; ++width)
    expect_sums({1, 3, 1, 1, 6, width, 3, 1, 1, 1, 0, 3});
}

}  // namespace
}  // namespace etch::rt
