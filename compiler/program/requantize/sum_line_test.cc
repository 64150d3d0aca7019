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

TEST(SumLine, IsNotFoundWhereTiesGoToEven) {
  // y = a / 2 + b / 4 has ties, which only the offset can send to one side: to even they cannot go.
  EXPECT_FALSE(find_sum_line({0.5F, 0.25F, 0, 0, 0, 0}, {}).has_value());
  const SumFactors factors{0.71F, 0.33F, 0.137F, 128, 128, 128};
  const auto line = find_sum_line(factors, {});
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(mismatches(*line, factors, {}), 0);
}

TEST(SumLine, IsFoundForAlmostAllRandomFactors) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> ratio(0.05F, 0.98F), fixed(-60.0F, 60.0F);
  int found = 0;
  constexpr int kCount = 60;
  for (int i = 0; i < kCount; ++i) {
    const SumFactors factors{ratio(random), ratio(random), fixed(random), 128, 0, 128};
    const SumLimits limits{i % 3 == 0 ? 128 : 0, 255};
    const auto line = find_sum_line(factors, limits);
    if (!line) continue;
    ++found;
    EXPECT_EQ(mismatches(*line, factors, limits), 0) << i;
  }
  EXPECT_GE(found, kCount * 9 / 10) << found;
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

TEST(SumLine, ShiftsLessForFactorsOfOneAndMore) {
  const SumFactors factors{1.6521246F, 0.8354339F, -55.75908F, 0, 0, 0};
  const auto line = find_sum_line(factors, {});
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->shift, 1);
  EXPECT_EQ(mismatches(*line, factors, {}), 0);
  EXPECT_FALSE(find_sum_line({16.5F, 0.5F, 0, 0, 0, 0}, {}).has_value());
}

}  // namespace
}  // namespace etch
