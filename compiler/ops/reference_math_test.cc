// Rounding, saturation and wrap-around of the references (docs/spec/numbers.md sections 1.3 and
// 1.5).
#include "compiler/ops/reference_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace etch {
namespace {

TEST(RoundAndSaturate, TiesGoToEvenBeforeTheZeroPointIsAdded) {
  EXPECT_EQ(round_and_saturate(2.5F, 1, DType::kU8), 3);
  EXPECT_EQ(round_and_saturate(3.5F, 1, DType::kU8), 5);
  EXPECT_EQ(round_and_saturate(-0.5F, 7, DType::kS8), 7);
  EXPECT_EQ(round_and_saturate(-1.5F, 0, DType::kS8), -2);
}

TEST(RoundAndSaturate, ClampsToTheTypeOfTheOutput) {
  EXPECT_EQ(round_and_saturate(300.0F, 0, DType::kU8), 255);
  EXPECT_EQ(round_and_saturate(255.75F, 0, DType::kU8), 255);  // 256 without the limit
  EXPECT_EQ(round_and_saturate(-0.75F, 0, DType::kU8), 0);
  EXPECT_EQ(round_and_saturate(-1.0F, 0, DType::kU8), 0);
  EXPECT_EQ(round_and_saturate(300.0F, -100, DType::kS8), 127);
  EXPECT_EQ(round_and_saturate(1e30F, 5, DType::kU16), 65535);
  EXPECT_EQ(round_and_saturate(-1e30F, 5, DType::kS16), -32768);
  EXPECT_EQ(round_and_saturate(9.0F, 1, DType::kS4), 7);
  EXPECT_EQ(round_and_saturate(-3.0F, 1, DType::kU4), 0);
}

TEST(RoundAndSaturate, InfinitiesSaturateAndNanGivesTheLeastValue) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(round_and_saturate(infinity, 10, DType::kU8), 255);
  EXPECT_EQ(round_and_saturate(-infinity, 10, DType::kU8), 0);
  EXPECT_EQ(round_and_saturate(std::nanf(""), 10, DType::kU8), 0);
  EXPECT_EQ(round_and_saturate(std::nanf(""), 10, DType::kS8), -128);
}

TEST(Requantize, RoundsTheAccumulatorToFloatFirst) {
  // 2^24 + 1 is no float: it becomes 2^24, so the product is exactly 1.
  EXPECT_EQ(requantize((1 << 24) + 1, 0x1p-24F, 0, DType::kS8), 1);
  EXPECT_EQ(requantize((1 << 25) + 2, 0x1.8p-25F, 0, DType::kS8), 2);
}

TEST(WrapToInt32, IsModuloTwoToThe32) {
  EXPECT_EQ(wrap_to_int32(std::int64_t{1} << 31), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(wrap_to_int32((std::int64_t{1} << 32) + 5), 5);
  EXPECT_EQ(wrap_to_int32(-(std::int64_t{1} << 31) - 1), std::numeric_limits<std::int32_t>::max());
}

TEST(Narrowed, IsTheReverseOfWidened) {
  const std::vector<std::int32_t> values{-8, 7, 0};
  for (const DType type : {DType::kS4, DType::kS8, DType::kS16, DType::kS32}) {
    EXPECT_EQ(widened(narrowed(type, {3}, values)), values) << name_of(type);
  }
  const std::vector<std::int32_t> positive{0, 15, 3};
  for (const DType type : {DType::kU4, DType::kU8, DType::kU16}) {
    EXPECT_EQ(widened(narrowed(type, {3}, positive)), positive) << name_of(type);
  }
}

}  // namespace
}  // namespace etch
