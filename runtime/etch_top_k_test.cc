// The best elements are those that a stable sort puts first: rows shorter and longer than what is
// passed over at a time, with equals, both zeros, infinities and NaN, and the limits of integers.
#include "runtime/etch_top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace etch {
namespace {

constexpr rt::Stored kPlain{0, 0};

template <class Better, class T>
std::vector<std::int64_t> sorted(const std::vector<T>& x, std::ptrdiff_t step) {
  std::vector<std::int64_t> order(x.size() / static_cast<std::size_t>(step));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    const T a = x[static_cast<std::size_t>(i * step)], b = x[static_cast<std::size_t>(j * step)];
    if (a != a || b != b) return a == a && b != b;
    return Better::of(a, b);
  });
  return order;
}

// Rows of up to 70 elements, each of which is one of `values`.
template <class Better, class T>
void expect_first_of_sorted(const std::vector<T>& values) {
  std::mt19937 random(static_cast<unsigned>(values.size()));
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t n = 1 + random() % 70, k = 1 + random() % n, step = 1 + random() % 5 / 4;
    std::vector<T> x(n * step), y(k);
    for (T& each : x) each = values[random() % values.size()];
    std::vector<std::int64_t> positions(k);
    rt::top_k<Better, T>(x.data(), static_cast<std::ptrdiff_t>(step), kPlain,
                         static_cast<std::int32_t>(n), y.data(), 1, kPlain, positions.data(), 1,
                         static_cast<std::int32_t>(k));
    std::vector<std::int64_t> expected = sorted<Better>(x, static_cast<std::ptrdiff_t>(step));
    expected.resize(k);
    ASSERT_EQ(positions, expected) << "the first " << k << " of " << n << ", step " << step;
    for (std::size_t i = 0; i < k; ++i) {
      const T& from = x[static_cast<std::size_t>(positions[i]) * step];
      EXPECT_TRUE(y[i] == from || from != from);
    }
  }
}

template <class T>
void expect_both_ways(const std::vector<T>& values) {
  expect_first_of_sorted<rt::Above>(values);
  expect_first_of_sorted<rt::Below>(values);
}

TEST(TopKRows, OfFloatsAreThoseOfASort) {
  using Limits = std::numeric_limits<float>;
  expect_both_ways<float>({-2, -1.5F, 0, 1, 3, 1e-30F, -7e20F, 100, 101, 102, 103, 104});
  expect_both_ways<float>({0.0F, -0.0F, Limits::denorm_min(), -Limits::denorm_min(), 1});
  expect_both_ways<float>({Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), 0, 5,
                           -Limits::quiet_NaN(), Limits::max(), Limits::lowest()});
}

// What is collected is more than there is room for; few or many of the elements are equal.
TEST(TopKRows, OfLongRowsAreThoseOfASort) {
  std::mt19937 random(3);
  for (const unsigned different : {2U, 40U, 1000000U}) {
    for (const std::size_t n : {33U, 100U, 511U, 1000U, 5000U}) {
      for (const std::size_t k : {1U, 3U, 9U, 16U, 50U, 384U, 385U, 600U, 5000U}) {
        if (k > n) continue;
        std::vector<float> x(n), y(k);
        for (float& each : x) each = static_cast<float>(random() % different);
        if (n == 511U) std::sort(x.begin(), x.end());
        std::vector<std::int64_t> positions(k), expected = sorted<rt::Above>(x, 1);
        expected.resize(k);
        rt::top_k<rt::Above, float>(x.data(), 1, kPlain, static_cast<std::int32_t>(n), y.data(), 1,
                                    kPlain, positions.data(), 1, static_cast<std::int32_t>(k));
        ASSERT_EQ(positions, expected) << k << " of " << n << " with " << different << " values";
      }
    }
  }
}

TEST(TopKRows, OfColumnsAreThoseOfASort) {
  std::mt19937 random(4);
  for (const std::size_t n : {8U, 40U, 512U, 513U}) {
    for (const std::size_t k : {1U, 5U, 300U, 513U}) {
      if (k > n) continue;
      std::vector<std::int32_t> x(n * 3), y(k * 2);
      for (std::int32_t& each : x) each = static_cast<std::int32_t>(random() % 100);
      std::vector<std::int64_t> positions(k * 2, -7), expected = sorted<rt::Below>(x, 3);
      rt::top_k<rt::Below, std::int32_t>(x.data(), 3, kPlain, static_cast<std::int32_t>(n),
                                         y.data(), 2, kPlain, positions.data(), 2,
                                         static_cast<std::int32_t>(k));
      for (std::size_t i = 0; i < k; ++i) {
        ASSERT_EQ(positions[2 * i], expected[i]) << i << " of " << n;
        EXPECT_EQ(positions[2 * i + 1], -7);
        EXPECT_EQ(y[2 * i], x[static_cast<std::size_t>(3 * expected[i])]);
      }
    }
  }
}

TEST(TopKRows, OfIntegersAreThoseOfASort) {
  using Limits = std::numeric_limits<std::int32_t>;
  expect_both_ways<std::int32_t>({Limits::min(), Limits::min() + 1, -1, 0, 1, Limits::max()});
  expect_both_ways<std::uint8_t>({0, 1, 2, 127, 128, 255});
  expect_both_ways<std::int64_t>({std::numeric_limits<std::int64_t>::min(), -1, 0, 1, 4'294'967'296,
                                  std::numeric_limits<std::int64_t>::max()});
}

}  // namespace
}  // namespace etch
