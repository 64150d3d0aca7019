// Quantization from the bits of floats against the quotient of floats: all exponents, both signs,
// neighbours of every tie and of every whole step, NaN and infinities.
#include "runtime/etch_quantize_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace etch {
namespace {

rt::QuantizeBits parameters(float scale, int low, int high) {
  int exponent = 0;
  const double significand = std::frexp(1 / double{scale}, &exponent);
  const auto bits = static_cast<std::uint32_t>(std::llround(std::ldexp(significand, 32)));
  return {scale, static_cast<std::int32_t>(bits), 32 - exponent, low, high};
}

// docs/spec/quantization.md section 2.3.
int rule(float x, float scale, int low, int high) {
  const float scaled = x / scale;
  const float above = scaled > static_cast<float>(low) ? scaled : static_cast<float>(low);
  const float inside = above < static_cast<float>(high) ? above : static_cast<float>(high);
  return static_cast<int>(std::nearbyint(inside));
}

std::vector<float> inputs(float scale, std::mt19937& random) {
  std::vector<float> out = {0.0F,
                            -0.0F,
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max()};
  for (int half_steps = -1100; half_steps <= 1100; ++half_steps) {
    float x = static_cast<float>(half_steps) * 0.5F * scale;
    for (int i = 0; i < 4; ++i) x = std::nextafter(x, -INFINITY);
    for (int i = 0; i < 9; ++i, x = std::nextafter(x, INFINITY)) out.push_back(x);
  }
  for (int i = 0; i < 4000; ++i)
    out.push_back(rt::bits_float(static_cast<std::uint32_t>(random())));
  std::uniform_real_distribution<float> steps(-300.0F, 300.0F);
  for (int i = 0; i < 4000; ++i) out.push_back(steps(random) * scale);
  return out;
}

TEST(QuantizeBits, EqualsTheQuotientOfFloats) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> exponent(-59.0F, 59.0F), usual(-12.0F, 2.0F);
  std::vector<float> scales = {0x1p-60F, 0x1p60F, 0x1p-7F, 1.0F, 0x1.000002p-7F, 0x1.fffffep-7F};
  for (int i = 0; i < 60; ++i)
    scales.push_back(std::exp2(i % 2 == 0 ? exponent(random) : usual(random)));
  for (const float scale : scales) {
    const std::vector<float> x = inputs(scale, random);
    for (const int zero : {0, 128, 255, 17}) {
      const rt::QuantizeBits q = parameters(scale, -zero, 255 - zero);
      std::vector<std::uint8_t> y(3 * x.size());
      rt::quantize_bits(x.data(), y.data(), static_cast<int>(x.size()), 3, scale, q.reciprocal,
                        q.digits, q.low, q.high, zero);
      int wrong = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        wrong += y[3 * i] != rule(x[i], scale, q.low, q.high) + zero ? 1 : 0;
      EXPECT_EQ(wrong, 0) << scale << " " << zero;
    }
  }
}

TEST(QuantizeBits, PartsGiveTheUpperHalfOrALittleLess) {
  std::mt19937 random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto significand = (static_cast<std::uint32_t>(random()) << 8) | 0x80000000U;
    const auto reciprocal = static_cast<std::uint32_t>(random()) | 0x80000000U;
    const auto exact = static_cast<std::uint32_t>((std::uint64_t{significand} * reciprocal) >> 32);
    EXPECT_LE(exact - rt::product_above_of_parts(significand, reciprocal), 3U);
    EXPECT_EQ(rt::product_above_of_parts(significand, 0x80000000U), significand >> 1);
  }
}

}  // namespace
}  // namespace etch
