// Bounds of float operations: exact at both ends, whatever the signs; nothing that overflows fits.
#include "compiler/base/float_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace etch {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool holds(const FloatInterval& x, float value) { return x.low <= value && value <= x.high; }

TEST(FloatInterval, HoldsWhateverTheOperationsGiveInside) {
  std::mt19937 random(7);
  const auto draw = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const float scale = std::ldexp(draw(-1, 1), static_cast<int>(random() % 200) - 100);
    const FloatInterval x{draw(-300, 0), draw(0, 300)};
    const FloatInterval y{draw(-9, -1), draw(-1, 9)};
    const float a = draw(x.low, x.high), b = draw(y.low, y.high);
    EXPECT_TRUE(holds(product(x, scale), a * scale)) << a << " " << scale;
    EXPECT_TRUE(holds(sum(x, y), a + b)) << a << " " << b;
    EXPECT_TRUE(holds(quotient(x, std::fabs(scale)), a / std::fabs(scale))) << a << " " << scale;
    EXPECT_TRUE(holds(fused(x, scale, y), std::fma(a, scale, b))) << a << " " << scale << " " << b;
  }
}

TEST(FloatInterval, EndsAreReached) {
  const FloatInterval x{-2, 3};
  EXPECT_EQ(product(x, -4).low, -12);
  EXPECT_EQ(product(x, -4).high, 8);
  EXPECT_EQ(fused(x, -4, {1, 2}).low, -11);
  EXPECT_EQ(fused(x, -4, {1, 2}).high, 10);
  EXPECT_EQ(quotient(x, 2).high, 1.5F);
}

TEST(FloatInterval, FitsInt32BelowTwoTo31Only) {
  EXPECT_TRUE(fits_int32({-2147483520.0F, 2147483520.0F}));
  EXPECT_FALSE(fits_int32({0, 2147483648.0F}));
  EXPECT_FALSE(fits_int32({-2147483648.0F, 0}));
  EXPECT_FALSE(fits_int32({-kInfinity, 0}));
  EXPECT_FALSE(fits_int32({0, std::nanf("")}));
  EXPECT_FALSE(fits_int32({std::nanf(""), 0}));
}

TEST(FloatInterval, WhatOverflowsIsNotFinite) {
  EXPECT_TRUE(is_finite(product({-255, 255}, 1e36F)));
  EXPECT_FALSE(is_finite(product({0, 255}, 1e37F)));
  EXPECT_FALSE(is_finite(sum({-kInfinity, 0}, {kInfinity, 0})));
}

}  // namespace
}  // namespace etch
