// QLinearSoftmax's rounding of exact quotients; whole rows are compared with ONNX Runtime's by
// tests/recorded/recorded_contrib_test.cc and with the reference function by
// tests/engines/engines_agree_test.cc.
#include "runtime/etch_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace etch::rt {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();

// The product is exact in double, and a quotient of 24 bits' divisor that is no tie differs from
// one by more than double rounds.
std::int32_t exact_share(float e, float sum, float y_inverse) {
  const double product = static_cast<double>(e) * static_cast<double>(y_inverse);
  return static_cast<std::int32_t>(
      std::nearbyint(std::min(600.0, product / static_cast<double>(sum))));
}

TEST(SoftmaxShare, NoScaleLeavesTheRangeOfFloat) {
  EXPECT_EQ(softmax_quotient(kMost / 149, kMost / 149, 256), 256);
  EXPECT_EQ(softmax_quotient(kMost / 1490, kMost / 149, 1490), 149);
  EXPECT_EQ(softmax_quotient(kMost / 149, kMost / 149, kMost), 600);
  EXPECT_EQ(softmax_quotient(1e-45F, kMost / 149, kMost), 0);
  EXPECT_EQ(softmax_quotient(1e-45F, 1, kMost), 0);
  EXPECT_EQ(softmax_quotient(0, kMost / 149, kMost), 0);
  EXPECT_EQ(softmax_quotient(kMost / 149, kMost / 149, 0), 0);
}

TEST(SoftmaxShare, TiesGoToEvenAndTheirNeighboursDoNot) {
  EXPECT_EQ(softmax_quotient(1, 98, 147), 2);
  EXPECT_EQ(softmax_quotient(1, 98, 245), 2);
  EXPECT_EQ(softmax_quotient(std::nextafter(1.0F, 2.0F), 98, 245), 3);
  EXPECT_EQ(softmax_quotient(std::nextafter(1.0F, 0.0F), 98, 147), 1);
  EXPECT_EQ(softmax_quotient(1, std::nextafter(98.0F, 99.0F), 147), 1);
}

TEST(SoftmaxShare, RoundsTheExactQuotient) {
  std::mt19937_64 dice(7);
  std::uniform_real_distribution<double> unit;
  for (int i = 0; i < 500000; ++i) {
    const float size = static_cast<float>(std::exp(unit(dice) * 83));
    const float part = static_cast<float>(std::exp(-unit(dice) * 8));
    const float sum = size * (1 + part);
    // Half of them on or next to a tie.
    const float whole = std::floor(static_cast<float>(unit(dice) * 300)) + 0.5F;
    const float tie = static_cast<float>(static_cast<double>(whole) * static_cast<double>(sum) /
                                         static_cast<double>(size));
    const float inverse = i % 2 == 0 ? tie : std::floor(static_cast<float>(unit(dice) * 1000));
    ASSERT_EQ(softmax_quotient(size, sum, inverse), exact_share(size, sum, inverse))
        << size << " of " << sum << " times " << inverse;
  }
}

TEST(SoftmaxByte, SaturatesToTheLogicalType) {
  EXPECT_EQ(softmax_byte(2, 1, 0), 3);
  EXPECT_EQ(softmax_byte(300, 0, 0), 255);
  EXPECT_EQ(softmax_byte(600, 255, 0), 255);
  EXPECT_EQ(softmax_byte(600, -128, 128), 255);
  EXPECT_EQ(softmax_byte(3, 127, 128), 255);
  EXPECT_EQ(softmax_byte(0, -128, 128), 0);
}

}  // namespace
}  // namespace etch::rt
