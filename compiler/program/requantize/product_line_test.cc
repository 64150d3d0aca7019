// Lines that multiply two quantized tensors: equal to the float rule for every pair of bytes.
#include "compiler/program/requantize/product_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "runtime/etch_byte_product.h"

namespace etch {
namespace {

// One row of all bytes `a` with one `b`, by the functions that generated code calls.
std::vector<std::uint8_t> row_by(const ProductLine& line, const ProductFactors& f,
                                 const SumLimits& limits, std::uint8_t b) {
  std::vector<std::uint8_t> a(256), y(256);
  for (int i = 0; i < 256; ++i) a[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  const auto low_half = static_cast<std::int32_t>(static_cast<std::uint32_t>(line.offset));
  const auto high_half = static_cast<std::int32_t>(line.offset >> 32);
  if (line.form == rt::kWideSum) {
    rt::multiply_bytes(a.data(), &b, 0, y.data(), 256, f.a_zero, f.b_zero, line.factor, low_half,
                       high_half, line.bits - 32, limits.low, limits.high);
  } else {
    (line.form == rt::kNarrowSum ? rt::multiply_bytes_narrow : rt::multiply_bytes_to_even)(
        a.data(), &b, 0, y.data(), 256, f.a_zero, f.b_zero, line.factor, low_half, line.bits,
        limits.low, limits.high);
  }
  return y;
}

// The rule in the kernel's order: rounded, then clamped.
int rule(const ProductFactors& f, const SumLimits& limits, int a, int b) {
  const float exact = static_cast<float>(a - f.a_zero) * static_cast<float>(b - f.b_zero);
  const float scaled = exact * f.scale;
  const float shifted = scaled + f.y_zero;
  return std::clamp(static_cast<int>(std::nearbyint(shifted)) + f.y_stored, limits.low,
                    limits.high);
}

int wrong_products(const ProductLine& line, const ProductFactors& factors,
                   const SumLimits& limits) {
  int count = 0;
  for (int b = 0; b < 256; ++b) {
    const auto row = row_by(line, factors, limits, static_cast<std::uint8_t>(b));
    for (int a = 0; a < 256; ++a) {
      const int expected = rule(factors, limits, a, b);
      count += row[static_cast<std::size_t>(a)] != expected ? 1 : 0;
      count += evaluate(line, limits, (a - factors.a_zero) * (b - factors.b_zero)) != expected;
    }
  }
  return count;
}

// Whether products of 32 bits serve for a wide line, which then give the same for every product.
bool is_by_halves(const ProductLine& line, const ProductFactors& f) {
  if (line.form != rt::kWideSum) return false;
  const int reach = rt::reach_of_byte(f.a_zero) * rt::reach_of_byte(f.b_zero);
  const int shift = line.bits - 32;
  if (!rt::halves_serve(reach, line.factor, line.offset, shift)) return false;
  for (int p = -reach; p <= reach; ++p) {
    const int expected = rt::multiply_high(p, line.factor, line.offset, shift);
    if (rt::multiply_by_halves(p, line.factor, line.offset, shift) != expected) {
      ADD_FAILURE() << p << " times " << line.factor;
      break;
    }
  }
  return true;
}

TEST(ProductLine, IsTheExactProductWhereTheScaleHasFewBits) {
  for (const ProductFactors& factors :
       {ProductFactors{0.0078125F, 128, 128, 0, 128}, ProductFactors{0.00390625F, 0, 0, 0, 0},
        ProductFactors{0.046875F, 128, 3, -17, 128}, ProductFactors{2, 10, 200, 255, 0}}) {
    for (const SumLimits& limits : {SumLimits{}, SumLimits{128, 200}}) {
      const auto line = find_product_line(factors, limits);
      ASSERT_TRUE(line.has_value()) << factors.scale;
      EXPECT_EQ(line->form, rt::kSumToEven);
      EXPECT_EQ(wrong_products(*line, factors, limits), 0) << factors.scale;
    }
  }
}

TEST(ProductLine, IsFoundForAlmostAllRandomScales) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> exponent(-14.0F, 1.0F);
  std::uniform_int_distribution<int> zero(0, 255);
  int found = 0, narrow = 0, halves = 0;
  constexpr int kCount = 120;
  for (int i = 0; i < kCount; ++i) {
    const int stored = i % 2 == 0 ? 0 : 128;
    const ProductFactors factors{std::exp2(exponent(random)), i % 3 == 0 ? 128 : zero(random),
                                 i % 4 == 0 ? 0 : zero(random),
                                 static_cast<float>(zero(random) - stored), stored};
    const SumLimits limits{i % 5 == 0 ? 128 : 0, 255};
    const auto line = find_product_line(factors, limits);
    if (!line) continue;
    ++found;
    narrow += line->form != rt::kWideSum ? 1 : 0;
    halves += is_by_halves(*line, factors) ? 1 : 0;
    EXPECT_EQ(wrong_products(*line, factors, limits), 0) << i;
  }
  EXPECT_GE(found, kCount * 9 / 10) << found;
  EXPECT_GE(narrow, kCount / 3) << narrow;
  EXPECT_EQ(narrow + halves, found);
}

TEST(ProductLine, IsNotLookedForWhereTheScaleIsNotPositive) {
  EXPECT_FALSE(find_product_line({0, 0, 0, 0, 0}, {}).has_value());
  EXPECT_FALSE(find_product_line({-0.01F, 0, 0, 0, 0}, {}).has_value());
}

// Scales at the ends of what can be: the products all round to the zero point, or are all limits.
TEST(ProductLine, IsRightForTinyAndHugeScales) {
  for (const float scale : {1e-38F, 1e-12F, 3e-6F, 0.4F, 7.3F, 900.1F, 30000.0F}) {
    const ProductFactors factors{scale, 130, 7, 12, 128};
    const auto line = find_product_line(factors, {});
    if (!line) continue;
    EXPECT_EQ(wrong_products(*line, factors, {}), 0) << scale;
  }
}

}  // namespace
}  // namespace etch
