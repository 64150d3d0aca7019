// QLinearSoftmax's rounding of exact quotients, and rows by tables; whole operators are compared
// with ONNX Runtime's by tests/recorded/recorded_contrib_test.cc and with the reference function by
// tests/engines/engines_agree_test.cc.
#include "runtime/etch_byte_softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

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
  EXPECT_EQ(softmax_share(kMost / 149, kMost / 149, 256), 256);
  EXPECT_EQ(softmax_share(kMost / 1490, kMost / 149, 1490), 149);
  EXPECT_EQ(softmax_share(kMost / 149, kMost / 149, kMost), 600);
  EXPECT_EQ(softmax_share(1e-45F, kMost / 149, kMost), 0);
  EXPECT_EQ(softmax_share(1e-45F, 1, kMost), 0);
  EXPECT_EQ(softmax_share(0, kMost / 149, kMost), 0);
  EXPECT_EQ(softmax_share(kMost / 149, kMost / 149, 0), 0);
}

TEST(SoftmaxShare, TiesGoToEvenAndTheirNeighboursDoNot) {
  EXPECT_EQ(softmax_share(1, 98, 147), 2);
  EXPECT_EQ(softmax_share(1, 98, 245), 2);
  EXPECT_EQ(softmax_share(std::nextafter(1.0F, 2.0F), 98, 245), 3);
  EXPECT_EQ(softmax_share(std::nextafter(1.0F, 0.0F), 98, 147), 1);
  EXPECT_EQ(softmax_share(1, std::nextafter(98.0F, 99.0F), 147), 1);
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
    ASSERT_EQ(softmax_share(size, sum, inverse), exact_share(size, sum, inverse))
        << size << " of " << sum << " times " << inverse;
  }
}

TEST(SoftmaxByte, SaturatesToTheLogicalType) {
  EXPECT_EQ(share_as_byte(2, 1, 0), 3);
  EXPECT_EQ(share_as_byte(300, 0, 0), 255);
  EXPECT_EQ(share_as_byte(600, 255, 0), 255);
  EXPECT_EQ(share_as_byte(600, -128, 128), 255);
  EXPECT_EQ(share_as_byte(3, 127, 128), 255);
  EXPECT_EQ(share_as_byte(0, -128, 128), 0);
}

// Rows of every kind of length, four at a time and alone, against one element after the other.
TEST(SoftmaxOfBytes, RowsByTablesHaveTheBytesOfSingleElements) {
  std::mt19937 dice(11);
  std::vector<float> table(256);
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(dice() % 300), rows = 1 + round % 6;
    const double x_scale = std::exp(-0.1 * static_cast<double>(dice() % 80));
    for (int i = 0; i < 256; ++i)
      table[static_cast<std::size_t>(i)] = static_cast<float>(std::exp(60 + (i - 255) * x_scale));
    const float y_inverse = round % 5 == 0 ? 0x1p100F : static_cast<float>(dice() % 1500);
    const int stored = round % 2 == 0 ? 0 : 128;
    const int zero_point = static_cast<int>(dice() % 256) - stored;
    const int elements = rows * n;
    std::vector<std::uint8_t> x(static_cast<std::size_t>(elements)), y(x.size());
    const unsigned spread = 1 + dice() % 256;
    for (std::uint8_t& each : x)
      each = static_cast<std::uint8_t>(
          std::max(0, 255 - static_cast<int>(dice() % spread) - round % 2));
    softmax_bytes(x.data(), y.data(), table.data(), rows, n, y_inverse, zero_point, stored);
    for (int r = 0; r < rows; ++r) {
      const std::uint8_t* const row = x.data() + r * n;
      const float* const entries = table.data() + (255 - *std::max_element(row, row + n));
      const float sum = softmax_sum(row, entries, n);
      for (int i = 0; i < n; ++i) {
        const std::int32_t quotient = exact_share(entries[row[i]], sum, y_inverse);
        ASSERT_EQ(y[static_cast<std::size_t>(row - x.data() + i)],
                  share_as_byte(quotient, zero_point, stored))
            << rows << " rows of " << n << ", element " << i;
      }
    }
  }
}

TEST(SoftmaxOfBytes, TiesInVectorsGoToEven) {
  const std::vector<float> table(256, 1.0F);
  const std::vector<std::uint8_t> x(98, 40);
  std::vector<std::uint8_t> y(98);
  for (const float y_inverse : {147.0F, 245.0F}) {  // 1.5 and 2.5
    softmax_bytes(x.data(), y.data(), table.data(), 1, 98, y_inverse, 0, 0);
    EXPECT_EQ(y, std::vector<std::uint8_t>(98, 2));
  }
}

}  // namespace
}  // namespace etch::rt
