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

TEST(TopKRows, OfIntegersAreThoseOfASort) {
  using Limits = std::numeric_limits<std::int32_t>;
  expect_both_ways<std::int32_t>({Limits::min(), Limits::min() + 1, -1, 0, 1, Limits::max()});
  expect_both_ways<std::uint8_t>({0, 1, 2, 127, 128, 255});
  expect_both_ways<std::int64_t>({std::numeric_limits<std::int64_t>::min(), -1, 0, 1, 4'294'967'296,
                                  std::numeric_limits<std::int64_t>::max()});
}

}  // namespace
}  // namespace etch
