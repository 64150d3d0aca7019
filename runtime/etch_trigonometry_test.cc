// Trigonometric and hyperbolic functions against double precision: within half a unit in the last
// place and a little, over the whole range of floats, and special values as IEEE 754 has them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/etch_trigonometry_lanes.h"

namespace etch::rt {
namespace {

// The largest error in units of the last place of the real value; every `step`th float from `first`
// on, with both signs.
template <class Function>
double worst_units(double (*truth)(double), std::uint32_t first = 1, std::uint32_t step = 20011) {
  double worst = 0;
  for (std::uint32_t bits = first; bits < 0x7f800000u; bits += step) {
    for (const float x : {bits_float(bits), -bits_float(bits)}) {
      const float got = Function::of(x, 0, 0);
      const double real = truth(static_cast<double>(x));
      const auto near = static_cast<float>(real);
      if (std::isnan(real) || std::isinf(near) || near == got) {
        if (std::isnan(real) ? !is_nan(got) : got != near) return INFINITY;
        continue;
      }
      const int exponent = std::max(std::ilogb(near) - 23, -149);
      worst =
          std::max(worst, std::abs(static_cast<double>(got) - real) / std::ldexp(1.0, exponent));
    }
  }
  return worst;
}

constexpr double kNearest = 0.5001;

TEST(Trigonometry, IsTheNearestFloatOverAllFloats) {
  EXPECT_LT(worst_units<Sin>(std::sin), kNearest);
  EXPECT_LT(worst_units<Cos>(std::cos), kNearest);
  EXPECT_LT(worst_units<Tan>(std::tan), kNearest);
  EXPECT_LT(worst_units<Sinh>(std::sinh), kNearest);
  EXPECT_LT(worst_units<Cosh>(std::cosh), kNearest);
  EXPECT_LT(worst_units<Asinh>(std::asinh), kNearest);
  EXPECT_LT(worst_units<Acosh>(std::acosh), kNearest);
  EXPECT_LT(worst_units<Atanh>(std::atanh), kNearest);
}

// Whether the sine in integers is sine_f32() or none; counts those that are none.
void expect_same_or_none(float x, int& none) {
  for (const std::uint32_t ahead : {0u, 1u}) {
    float y = 0;
    if (sine_in_integers(x, ahead, &y)) {
      EXPECT_EQ(float_bits(y), float_bits(sine_f32(x, ahead))) << x << ", " << ahead;
    } else {
      ++none;
    }
  }
}

// Every 1009th float of the range. A step of 1 has all of them, and takes a minute.
TEST(Trigonometry, InIntegersIsTheSameFloatOrNone) {
  int floats = 0, none = 0;
  for (std::uint32_t bits = 0x39800000u; bits < 0x46000000u; bits += 1009) {
    ++floats;
    expect_same_or_none(bits_float(bits), none);
    expect_same_or_none(-bits_float(bits), none);
  }
  EXPECT_LT(none, 4 * floats / 25);
}

TEST(Trigonometry, InIntegersIsTheSameFloatOrNoneNextToQuartersOfATurn) {
  int none = 0;
  for (int quarters = 1; quarters < 5215; ++quarters) {
    const auto near = float_bits(static_cast<float>(quarters * 1.5707963267948966));
    for (std::uint32_t bits = near - 2; bits <= near + 2; ++bits)
      expect_same_or_none(bits_float(bits), none);
  }
  EXPECT_GT(none, 5214);
}

TEST(Trigonometry, InIntegersHasNothingOutsideItsRange) {
  for (const float x : {0.0f, 0x1.fffffep-13f, 0x1p13f, INFINITY, NAN, -0x1p13f}) {
    float y = 0;
    EXPECT_FALSE(sine_in_integers(x, 1, &y)) << x;
  }
}

TEST(Trigonometry, HasNoValueForInfinityAndNaN) {
  for (const float x : {INFINITY, -INFINITY, NAN}) {
    EXPECT_EQ(float_bits(Sin::of(x, 0, 0)), 0x7fc00000u);
    EXPECT_EQ(float_bits(Cos::of(x, 0, 0)), 0x7fc00000u);
    EXPECT_EQ(float_bits(Acos::of(x, 0, 0)), 0x7fc00000u);
  }
  EXPECT_EQ(Atan::of(INFINITY, 0, 0), static_cast<float>(M_PI / 2));
  EXPECT_EQ(Sinh::of(-INFINITY, 0, 0), -INFINITY);
  EXPECT_EQ(Cosh::of(-INFINITY, 0, 0), INFINITY);
  EXPECT_EQ(Atanh::of(-1, 0, 0), -INFINITY);
  EXPECT_EQ(float_bits(Sin::of(-0.0F, 0, 0)), 0x80000000u);
}

}  // namespace
}  // namespace etch::rt
