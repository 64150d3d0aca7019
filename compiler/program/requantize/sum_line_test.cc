// Lines that add two quantized tensors: equal to the float rule for every pair of bytes.
#include "compiler/program/requantize/sum_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace etch {
namespace {

int mismatches(const SumLine& line, const SumFactors& factors, const SumLimits& limits) {
  int count = 0;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const int expected = std::clamp(sum_by_rule(factors, a, b), limits.low, limits.high);
      count += evaluate(line, limits, a, b) != expected;
    }
  }
  return count;
}

TEST(SumLine, IsTheExactSumWhereRatiosAreOfFewBits) {
  for (const SumFactors& factors :
       {SumFactors{0.5F, 0.25F, 0, 0, 0, 0}, SumFactors{1, 1, 0, 128, 128, 128},
        SumFactors{0.5F, 2, -3.5F, 0, 128, 0}, SumFactors{0.75F, 0.0625F, 1, 128, 0, 128},
        SumFactors{0.5F, 0.5F, 5000, 0, 0, 0}}) {
    for (const SumLimits& limits : {SumLimits{}, SumLimits{128, 200}}) {
      const auto line = find_sum_line(factors, limits);
      ASSERT_TRUE(line.has_value());
      EXPECT_EQ(line->form, rt::kSumToEven);
      EXPECT_EQ(mismatches(*line, factors, limits), 0) << factors.ratio_a;
    }
  }
  EXPECT_FALSE(find_sum_line({-0.5F, 0.25F, 0, 0, 0, 0}, {}).has_value());
}

// What floats round to a tie is not one of the exact sum.
TEST(SumLine, IsNotTheExactSumWhereItsBitsAreMany) {
  const SumFactors factors{0.71F, 0.33F, 0.137F, 128, 128, 128};
  const auto line = find_sum_line(factors, {});
  ASSERT_TRUE(line.has_value());
  EXPECT_NE(line->form, rt::kSumToEven);
  EXPECT_EQ(mismatches(*line, factors, {}), 0);
}

TEST(SumLine, IsFoundForAlmostAllRandomFactors) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> ratio(0.05F, 0.98F), fixed(-60.0F, 60.0F);
  int found = 0, narrow = 0;
  constexpr int kCount = 60;
  for (int i = 0; i < kCount; ++i) {
    const SumFactors factors{ratio(random), ratio(random), fixed(random), 128, 0, 128};
    const SumLimits limits{i % 3 == 0 ? 128 : 0, 255};
    const auto line = find_sum_line(factors, limits);
    if (!line) continue;
    ++found;
    narrow += line->is_narrow() ? 1 : 0;
    EXPECT_EQ(mismatches(*line, factors, limits), 0) << i;
  }
  EXPECT_GE(found, kCount * 9 / 10) << found;
  EXPECT_GE(narrow, kCount / 2) << narrow;
}

// Code may clamp what it has packed to 16 bits.
TEST(SumLine, StaysWithinInt16EvenWhereEverythingIsClamped) {
  for (const float fixed : {-5000.0F, 5000.0F}) {
    const SumFactors factors{0.588F, 0.412F, fixed, 0, 0, 0};
    const auto line = find_sum_line(factors, {});
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(mismatches(*line, factors, {}), 0);
    for (const int a : {0, 255}) {
      for (const int b : {0, 255}) {
        const SumLimits wide{-1000000, 1000000};
        EXPECT_LE(std::abs(evaluate(*line, wide, a, b)), 32767);
      }
    }
  }
}

TEST(SumLine, HasFewerBitsForFactorsOfOneAndMore) {
  const SumFactors small{0.44F, 0.43F, -15.75908F, 0, 0, 0};
  const SumFactors large{16.5123F, 0.8354339F, -55.75908F, 0, 0, 0};
  const auto of_small = find_sum_line(small, {}), of_large = find_sum_line(large, {});
  ASSERT_TRUE(of_small.has_value() && of_large.has_value());
  EXPECT_LT(of_large->bits, of_small->bits);
  EXPECT_EQ(mismatches(*of_small, small, {}), 0);
  EXPECT_EQ(mismatches(*of_large, large, {}), 0);
}

}  // namespace
}  // namespace etch
