// Division by products (mve.h): where it is said to serve it gives what division gives, for ties,
// floats next to them, and any others.
#include "compiler/kernels/quantize/mve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace etch {
namespace {

int by_division(float x, float scale, int low, int high) {
  const float q = x / scale;
  const float above = q > static_cast<float>(low) ? q : static_cast<float>(low);
  return static_cast<int>(std::nearbyint(std::min(above, static_cast<float>(high))));
}

int by_products(float x, float scale, int low, int high) {
  return static_cast<int>(std::nearbyint(quotient_by_products(x, scale, low, high)));
}

void expect_equal(float x, float scale, int low, int high, int& differ) {
  if (by_products(x, scale, low, high) != by_division(x, scale, low, high)) ++differ;
}

TEST(DivisionByProducts, GivesWhatDivisionGivesWhereItServes) {
  std::mt19937 random(1);
  int served = 0, differ = 0;
  constexpr int kScales = 600;
  for (int i = 0; i < kScales; ++i) {
    const float scale = std::ldexp(1.0F + static_cast<float>(random() % (1U << 23)) * 0x1p-23F,
                                   static_cast<int>(random() % 40) - 30);
    const int low = -static_cast<int>(random() % 256), high = low + 255;
    if (!divides_by_products(scale, low, high)) continue;
    ++served;
    for (int n = 0; n < 2000; ++n) {
      const int k = low + static_cast<int>(random() % 256);
      const auto tie = static_cast<float>((k + 0.5) * scale);
      const auto moved = static_cast<std::uint32_t>(random() % 129) - 64;
      const auto near = std::bit_cast<float>(std::bit_cast<std::uint32_t>(tie) + moved);
      expect_equal(near, scale, low, high, differ);
      expect_equal(std::bit_cast<float>(static_cast<std::uint32_t>(random())), scale, low, high,
                   differ);
    }
  }
  EXPECT_EQ(differ, 0);
  EXPECT_GT(served, kScales * 9 / 10);
}

TEST(DivisionByProducts, LimitsInfinitiesAndNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  ASSERT_TRUE(divides_by_products(0.05F, -128, 127));
  EXPECT_EQ(by_products(infinity, 0.05F, -128, 127), 127);
  EXPECT_EQ(by_products(-infinity, 0.05F, -128, 127), -128);
  EXPECT_EQ(by_products(std::numeric_limits<float>::quiet_NaN(), 0.05F, -128, 127), -128);
}

TEST(DivisionByProducts, LeavesScalesWhoseRemaindersMayBeSubnormal) {
  EXPECT_FALSE(divides_by_products(1e-30F, 0, 255));
  EXPECT_FALSE(divides_by_products(1e30F, 0, 255));
  EXPECT_FALSE(mve_quantize({64, 1, 1e-30F, 0, 255, 0}));
}

}  // namespace
}  // namespace etch
