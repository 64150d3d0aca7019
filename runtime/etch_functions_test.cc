// The functions of etch_functions.h against the C library's in double precision over dense samples,
// and the exact ones against the C library bit for bit.
#include "runtime/etch_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace etch::rt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The largest error over [low, high], relative where the truth is larger than 1.
double worst_error(const std::function<float(float)>& function,
                   const std::function<double(double)>& truth, float low, float high) {
  constexpr int kSamples = 200'000;
  double worst = 0;
  for (int i = 0; i <= kSamples; ++i) {
    const float x = low + (high - low) * (static_cast<float>(i) / kSamples);
    const double expected = truth(static_cast<double>(x));
    const double error = std::fabs(static_cast<double>(function(x)) - expected);
    worst = std::fmax(worst, error / std::fmax(1.0, std::fabs(expected)));
  }
  return worst;
}

double softplus(double x) { return std::log1p(std::exp(x)); }

TEST(FloatFunctions, LogarithmIsWithin1e7) {
  const auto truth = [](double x) { return std::log(x); };
  EXPECT_LT(worst_error(log_f32, truth, 0.5F, 2), 1e-7);
  EXPECT_LT(worst_error(log_f32, truth, 1e-6F, 100), 1e-7);
  EXPECT_LT(worst_error(log_f32, truth, 1e-42F, 1e-37F), 1e-7);
  EXPECT_LT(worst_error(log_f32, truth, 1e30F, 3e38F), 1e-7);
  EXPECT_EQ(log_f32(0), -kInfinity);
  EXPECT_EQ(log_f32(kInfinity), kInfinity);
  EXPECT_TRUE(is_nan(log_f32(-1)));
  EXPECT_TRUE(is_nan(log_f32(kNaN)));
}

TEST(FloatFunctions, ErrorFunctionIsWithin1e7) {
  EXPECT_LT(worst_error(
                erf_f32, [](double x) { return std::erf(x); }, -5, 5),
            1e-7);
  EXPECT_EQ(erf_f32(-kInfinity), -1.0F);
  EXPECT_TRUE(is_nan(erf_f32(kNaN)));
}

TEST(FloatFunctions, HyperbolicTangentIsWithin1e6) {
  EXPECT_LT(worst_error(
                tanh_f32, [](double x) { return std::tanh(x); }, -12, 12),
            1e-6);
  EXPECT_TRUE(is_nan(tanh_f32(kNaN)));
}

TEST(FloatFunctions, ActivationsAreWithin2e6) {
  EXPECT_LT(worst_error([](float x) { return Softplus::of(x, 0, 0); }, softplus, -20, 20), 2e-6);
  EXPECT_LT(worst_error([](float x) { return Gelu::of(x, 0, 0); },
                        [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }, -9, 9),
            2e-6);
  const auto gelu_tanh = [](double x) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  EXPECT_LT(worst_error([](float x) { return GeluTanh::of(x, 0, 0); }, gelu_tanh, -9, 9), 2e-6);
  const auto mish = [](double x) { return x * std::tanh(softplus(x)); };
  EXPECT_LT(worst_error([](float x) { return Mish::of(x, 0, 0); }, mish, -9, 9), 2e-6);
  const auto elu = [](double x) { return x < 0 ? 2.5 * std::expm1(x) : x; };
  EXPECT_LT(worst_error([](float x) { return Elu::of(x, 2.5F, 0); }, elu, -9, 9), 2e-6);
  const auto quick = [](double x) { return x / (1 + std::exp(-1.5 * x)); };
  EXPECT_LT(worst_error([](float x) { return QuickGelu::of(x, 1.5F, 0); }, quick, -9, 9), 2e-6);
}

TEST(FloatFunctions, PowersAreWithinOneUnitInTheLastPlace) {
  for (const float b : {0.5F, -1.5F, 2.3F, 7.0F, -3.0F, 0.1F, 20.0F}) {
    for (float a = 0.05F; a < 20; a *= 1.0003F) {
      const double truth = std::pow(static_cast<double>(a), static_cast<double>(b));
      EXPECT_NEAR(static_cast<double>(pow_f32(a, b)), truth, truth * 1.2e-7) << a << "^" << b;
    }
  }
}

TEST(FloatFunctions, PowersOfSpecialValuesFollowIeee) {
  const float values[] = {0,          -0.0F, 1,     -1,    2,      -2,          3,
                          -3,         0.5F,  -0.5F, 1e30F, -1e30F, 1e-30F,      kInfinity,
                          -kInfinity, kNaN,  2.5F,  -2.5F, 1e-45F, 16777217.0F, -16777215.0F};
  for (const float a : values) {
    for (const float b : values) {
      const float got = pow_f32(a, b);
      const auto truth =
          static_cast<float>(std::pow(static_cast<double>(a), static_cast<double>(b)));
      if (std::isnan(truth)) {
        EXPECT_TRUE(is_nan(got)) << a << "^" << b;
        continue;
      }
      EXPECT_EQ(std::signbit(got), std::signbit(truth)) << a << "^" << b;
      if (std::isinf(truth) || truth == 0) {
        EXPECT_EQ(got, truth) << a << "^" << b;
      } else {
        EXPECT_NEAR(got / truth, 1, 2e-7F) << a << "^" << b;
      }
    }
  }
}

TEST(FloatFunctions, RootsAndIntegerPartsAreExact) {
  int differences = 0;
  for (std::uint32_t bits = 1; bits < 0x7f800000u; bits += 4099) {
    const float x = bits_float(bits);
    differences += sqrt_software(x) != std::sqrt(x) || sqrt_f32(x) != std::sqrt(x) ? 1 : 0;
    for (const float each : {x, -x}) {
      differences += float_bits(floor_f32(each)) != float_bits(std::floor(each)) ? 1 : 0;
      const float ceiling = rt::Ceil::of(each, 0.0F, 0.0F);
      differences += float_bits(ceiling) != float_bits(std::ceil(each)) ? 1 : 0;
    }
  }
  EXPECT_EQ(differences, 0);
  EXPECT_EQ(sqrt_f32(0), 0.0F);
  EXPECT_EQ(sqrt_f32(kInfinity), kInfinity);
  EXPECT_EQ(float_bits(sqrt_f32(-1)), 0x7fc00000u);
  EXPECT_TRUE(is_nan(floor_f32(kNaN)));
}

TEST(Integers, QuotientsAreThoseOf64BitsAtTheEndsOf32) {
  const auto expect = [](std::int64_t a, std::int64_t b) { EXPECT_EQ(Div::of(a, b), a / b); };
  for (const std::int64_t edge : {std::int64_t{INT32_MIN}, std::int64_t{INT32_MAX}}) {
    for (std::int64_t a = edge - 2; a <= edge + 2; ++a) {
      for (const std::int64_t b : {-7, -1, 1, 2, 7}) expect(a, b);
      for (std::int64_t b = edge - 2; b <= edge + 2; ++b) expect(a, b), expect(3 * a, b);
      expect(a << 32, 7);
      expect(7, a << 32);
    }
  }
  EXPECT_EQ(Div::of(INT64_MIN, std::int64_t{-1}), INT64_MIN);
  EXPECT_EQ(Div::of(std::int64_t{5}, std::int64_t{0}), 0);
}

}  // namespace
}  // namespace etch::rt
