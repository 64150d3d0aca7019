// Ties of requantized 16-bit sums: found where the scales are such, and looked for one by one.
#include "compiler/kernels/products/word_ties.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "compiler/ops/qlinear_conv16/op.h"

namespace etch {
namespace {

WordConv conv_of(std::int64_t factor, int exponent, std::int32_t rest = 0) {
  const WideScale scale{factor, exponent};
  WordConv out;
  out.low = -32768;
  out.high = 32767;
  out.high_parts = {scale.high()};
  out.low_parts = {scale.low()};
  out.shifts = {scale.shift()};
  out.rests = {rest};
  return out;
}

WordConv conv_of(const WideScale& scale) { return conv_of(scale.factor, scale.exponent); }

TEST(WordTies, AreThoseOfPowersOfTwo) {
  EXPECT_TRUE(may_have_ties(conv_of(wide_scale(0x1p-12F, 0x1p-9F, 0x1p-12F))));
  EXPECT_TRUE(may_have_ties(conv_of(wide_scale(0x1.8p-12F, 0x1p-9F, 0x1p-12F))));
  EXPECT_FALSE(may_have_ties(conv_of(wide_scale(0x1p-12F, 0.00123F, 0x1p-12F))));
  EXPECT_FALSE(may_have_ties(conv_of(wide_scale(0.0017F, 0.00123F, 0.0031F))));
}

TEST(WordTies, CountOnlyWithinTheLimitsOfY) {
  WordConv conv = conv_of((std::int64_t{0x1001} << 47) | std::int64_t{1} << 59, 69);
  // y is a tie at odd multiples of 0x1001 halves or more.
  EXPECT_TRUE(may_have_ties(conv));
  conv.low = -1000;
  conv.high = 1000;
  EXPECT_FALSE(may_have_ties(conv));
}

TEST(WordTies, AreTakenForPossibleWhereShiftsAreSmall) {
  EXPECT_TRUE(may_have_ties(conv_of(wide_scale(0.7F, 0.3F, 0.9F))));
}

// Half a unit of the sum more or less: ties are elsewhere.
TEST(WordTies, MoveWithTheRest) {
  const WideScale eighth = wide_scale(0.125F, 0.0625F, 1);  // y = sum / 128
  EXPECT_TRUE(may_have_ties(conv_of(eighth.factor, eighth.exponent)));
  EXPECT_FALSE(may_have_ties(conv_of(eighth.factor, eighth.exponent, 1)));
}

}  // namespace
}  // namespace etch
