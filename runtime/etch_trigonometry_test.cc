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
