// Facts about etch_float.h. fma against std::fma (correctly rounded in glibc), rounding and
// quantization against double arithmetic, which is exact for these operands, exp and softmax
// against recorded results of ONNX Runtime (testdata_softmax.h). Random numbers come from a fixed
// seed.
#include "runtime/etch_float.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/etch_softmax.h"
#include "runtime/testdata_softmax.h"

namespace etch::rt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kSmallestSubnormal = 0x1p-149f;

using Random = std::mt19937_64;

// Equal bits, or both NaN.
bool same(float a, float b) { return (is_nan(a) && is_nan(b)) || float_bits(a) == float_bits(b); }

// Any finite float: sign, exponent and fraction are all uniform.
float any_finite(Random& random) {
  for (;;) {
    const float value = bits_float(static_cast<std::uint32_t>(random()));
    if (std::isfinite(value)) return value;
  }
}

// A float with a short fraction, so that products end in long runs of zeros and ties are common.
float short_float(Random& random, int bits, int exponent_range) {
  const int whole = static_cast<int>(random() >> (64 - bits)) | 1;
  const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * exponent_range + 1));
  const float magnitude = std::ldexp(static_cast<float>(whole), exponent - exponent_range);
  return (random() & 1u) != 0u ? -magnitude : magnitude;
}

// Counts the operands for which either path differs from std::fma.
class FmaComparison {
 public:
  void check(float a, float b, float c) {
    const float expected = std::fma(a, b, c);
    if (same(fma_software(a, b, c), expected) && same(fma_integers(a, b, c), expected) &&
        same(fma_exact(a, b, c), expected))
      return;
    ++failures_;
    ADD_FAILURE() << std::hexfloat << "fma(" << a << ", " << b << ", " << c << "): observed "
                  << fma_software(a, b, c) << " (software), " << fma_integers(a, b, c)
                  << " (integers), " << fma_exact(a, b, c) << " (chosen path), expected "
                  << expected;
  }
  bool too_many_failures() const { return failures_ > 10; }

 private:
  int failures_ = 0;
};

TEST(FloatFma, EqualsStdFmaForRandomFiniteOperands) {
  Random random(1);
  FmaComparison comparison;
  for (int i = 0; i < 5000000 && !comparison.too_many_failures(); ++i) {
    comparison.check(any_finite(random), any_finite(random), any_finite(random));
  }
}

TEST(FloatFma, EqualsStdFmaWhenProductAndAddendHaveSimilarSize) {
  Random random(2);
  FmaComparison comparison;
  for (int i = 0; i < 5000000 && !comparison.too_many_failures(); ++i) {
    const float a = any_finite(random);
    const float b = bits_float((float_bits(any_finite(random)) & 0x807fffffu) | 0x3f800000u);
    const int distance = static_cast<int>(random() % 101u) - 50;
    const float c = std::ldexp(a * (1.0f + static_cast<float>(random() % 8u) / 4.0f), distance);
    comparison.check(a, b, (random() & 1u) != 0u ? -c : c);
  }
}

TEST(FloatFma, RoundsTiesAndNearTiesOnce) {
  Random random(3);
  FmaComparison comparison;
  for (int i = 0; i < 3000000 && !comparison.too_many_failures(); ++i) {
    const float a = short_float(random, 12, 30);
    const float b = short_float(random, 13, 30);
    comparison.check(a, b, short_float(random, 24, 60));
  }
}

// A tie of the product is decided by an addend far below the last bit of a double: the case where
// one plain rounding to double, and then another to float, is wrong.
TEST(FloatFma, LetsATinyAddendDecideATie) {
  FmaComparison comparison;
  for (std::uint32_t fraction = 1; fraction < 4096; fraction += 2) {
    const float a = 1.0f + static_cast<float>(fraction) * 0x1p-12f;
    const float b = 1.0f + 0x1p-12f;
    for (int exponent = -148; exponent < 0; ++exponent) {
      const float c = std::ldexp(1.0f, exponent);
      comparison.check(a, b, c);
      comparison.check(a, b, -c);
      comparison.check(-a, b, c);
    }
  }
  EXPECT_EQ(fma_software(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, 0x1p-100f), 0x1.002002p+0f);
  EXPECT_EQ(fma_software(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -0x1p-100f), 0x1.002p+0f);
}

TEST(FloatFma, RoundsSubnormalResultsOnce) {
  Random random(4);
  FmaComparison comparison;
  for (int i = 0; i < 3000000 && !comparison.too_many_failures(); ++i) {
    const float a = std::ldexp(short_float(random, 24, 20), -80);
    const float b = std::ldexp(short_float(random, 24, 20), -80);
    const float c = bits_float(static_cast<std::uint32_t>(random()) & 0x81ffffffu);
    comparison.check(a, b, c);
  }
  // Just above the middle of two subnormals, by less than a double below 2^-126 can say.
  const float a = std::ldexp(8388625.0f, -90);
  const float b = std::ldexp(7401713.0f, -91);
  EXPECT_EQ(fma_software(a, b, 0x1p-127f), std::ldexp(4208761.0f, -149));
  EXPECT_EQ(fma_software(-a, b, -0x1p-127f), std::ldexp(-4208761.0f, -149));
  comparison.check(kSmallestSubnormal, 0.5f, 0.0f);
  comparison.check(kSmallestSubnormal, 0.5f, kSmallestSubnormal);
  comparison.check(kSmallestSubnormal, kSmallestSubnormal, 0x1p-126f);
  comparison.check(kSmallestSubnormal, -kSmallestSubnormal, 0x1p-126f);
}

TEST(FloatFma, FollowsIeeeForZerosInfinitiesAndNaN) {
  FmaComparison comparison;
  const float values[] = {0.0f,
                          -0.0f,
                          1.0f,
                          -1.0f,
                          kInfinity,
                          -kInfinity,
                          kNaN,
                          0x1.fffffep+127f,
                          -0x1.fffffep+127f,
                          kSmallestSubnormal};
  for (const float a : values) {
    for (const float b : values) {
      for (const float c : values) comparison.check(a, b, c);
    }
  }
}

TEST(FloatRounding, SendsTiesToTheEvenNeighbour) {
  EXPECT_EQ(round_even(0.5f), 0);
  EXPECT_EQ(round_even(1.5f), 2);
  EXPECT_EQ(round_even(2.5f), 2);
  EXPECT_EQ(round_even(-0.5f), 0);
  EXPECT_EQ(round_even(-1.5f), -2);
  EXPECT_EQ(round_even(-2.5f), -2);
  EXPECT_EQ(round_even(0x1.fffffep-2f), 0);
  EXPECT_EQ(round_even(0x1.000002p-1f), 1);
  EXPECT_EQ(round_even(4194303.5f), 4194304);
  EXPECT_EQ(round_even(8388606.5f), 8388606);
  EXPECT_EQ(round_even(8388607.0f), 8388607);
}

TEST(FloatRounding, EqualsNearbyintForEveryExponentBelow23) {
  Random random(5);
  for (std::uint32_t exponent = 0; exponent < 127 + 23; ++exponent) {
    for (int i = 0; i < 20000; ++i) {
      const std::uint32_t word = static_cast<std::uint32_t>(random());
      const float value = bits_float((word & 0x807fffffu) | (exponent << 23));
      ASSERT_EQ(round_even(value), static_cast<std::int32_t>(std::nearbyint(value))) << value;
      ASSERT_EQ(rne(value), static_cast<std::int32_t>(std::nearbyint(value))) << value;
    }
  }
}

TEST(FloatRounding, EqualsNearbyintForAllQuartersOfSmallIntegers) {
  for (int quarters = -70000; quarters <= 70000; ++quarters) {
    const float value = static_cast<float>(quarters) * 0.25f;
    ASSERT_EQ(round_even(value), static_cast<std::int32_t>(std::nearbyint(value))) << value;
  }
}

TEST(FloatRounding, AwayFromZeroEqualsRoundForEveryExponentBelow31) {
  Random random(6);
  for (std::uint32_t exponent = 0; exponent < 127 + 31; ++exponent) {
    for (int i = 0; i < 20000; ++i) {
      const std::uint32_t word = static_cast<std::uint32_t>(random());
      const float value = bits_float((word & 0x807fffffu) | (exponent << 23));
      ASSERT_EQ(round_away(value), static_cast<std::int32_t>(std::round(value))) << value;
    }
  }
}

TEST(FloatRounding, AwayFromZeroEqualsRoundForAllQuartersOfSmallIntegers) {
  for (int quarters = -70000; quarters <= 70000; ++quarters) {
    const float value = static_cast<float>(quarters) * 0.25f;
    ASSERT_EQ(round_away(value), static_cast<std::int32_t>(std::round(value))) << value;
  }
  EXPECT_EQ(round_away(0x1.fffffep-2f), 0);  // adding 1/2 in float would give 1
}

TEST(FloatRounding, SaturatesAndTurnsNaNIntoZero) {
  EXPECT_EQ(rne(8388608.0f), 8388608);
  EXPECT_EQ(rne(-16777216.0f), -16777216);
  EXPECT_EQ(rne(2147483520.0f), 2147483520);
  EXPECT_EQ(rne(2147483648.0f), INT32_MAX);
  EXPECT_EQ(rne(-2147483648.0f), INT32_MIN);
  EXPECT_EQ(rne(kInfinity), INT32_MAX);
  EXPECT_EQ(rne(-kInfinity), INT32_MIN);
  EXPECT_EQ(rne(kNaN), 0);
}

// docs/spec/numbers.md section 1.3 word by word, on one float product or quotient.
int expected_8bit(float value, int zero_point, int low, int high) {
  if (std::isnan(value)) return low;
  const double lower = low - zero_point;
  const double upper = high - zero_point;
  const double clamped = std::fmin(std::fmax(static_cast<double>(value), lower), upper);
  return static_cast<int>(std::nearbyint(clamped)) + zero_point;
}

TEST(FloatQuantize, RoundsToEvenBeforeAddingTheZeroPoint) {
  EXPECT_EQ(quantize_u8(2.5f, 1.0f, 1), 3);
  EXPECT_EQ(quantize_u8(3.5f, 1.0f, 1), 5);
  EXPECT_EQ(quantize_s8(-2.5f, 1.0f, 1), -1);
  EXPECT_EQ(requantize_u8(5, 0.5f, 1), 3);
  EXPECT_EQ(requantize_s8(-5, 0.5f, 1), -1);
}

// k + 1/2 steps of an exact multiple of the scale are ties; the rounded reciprocal misses some of
// them.
TEST(FloatQuantize, DividesInsteadOfMultiplyingByTheReciprocal) {
  int reciprocal_differs = 0;
  for (int step = 1; step < 4096; step += 2) {
    const float scale = static_cast<float>(step);
    const float x = 25.5f * scale;
    EXPECT_EQ(quantize_u8(x, scale, 0), 26) << step;
    if (round_even(x * opaque(1.0f / scale)) != 26) ++reciprocal_differs;
  }
  EXPECT_GT(reciprocal_differs, 0);
}

TEST(FloatQuantize, SaturatesInfinityAndSendsNaNToTheLowest) {
  EXPECT_EQ(quantize_u8(kInfinity, 0.1f, 7), 255);
  EXPECT_EQ(quantize_u8(-kInfinity, 0.1f, 7), 0);
  EXPECT_EQ(quantize_u8(kNaN, 0.1f, 7), 0);
  EXPECT_EQ(quantize_s8(kInfinity, 0.1f, 7), 127);
  EXPECT_EQ(quantize_s8(-kInfinity, 0.1f, 7), -128);
  EXPECT_EQ(quantize_s8(kNaN, 0.1f, 7), -128);
  EXPECT_EQ(requantize_u8(INT32_MAX, 1e30f, 7), 255);
  EXPECT_EQ(requantize_s8(INT32_MIN, 1e30f, 7), -128);
  EXPECT_EQ(requantize_s8(INT32_MIN, 1e-38f, 7), 7);
}

TEST(FloatQuantize, EqualsTheSpecificationForRandomOperands) {
  Random random(6);
  std::uniform_real_distribution<float> scales(0.001f, 2.0f);
  std::normal_distribution<float> values(0.0f, 100.0f);
  for (int i = 0; i < 300000; ++i) {
    const float scale = scales(random);
    const float value = values(random);
    const int u8_zero = static_cast<int>(random() % 256u);
    const int s8_zero = u8_zero - 128;
    const float quotient = opaque(value / scale);
    ASSERT_EQ(quantize_u8(value, scale, u8_zero), expected_8bit(quotient, u8_zero, 0, 255));
    ASSERT_EQ(quantize_s8(value, scale, s8_zero), expected_8bit(quotient, s8_zero, -128, 127));
  }
}

TEST(FloatQuantize, RequantizesAsTheSpecificationSays) {
  Random random(7);
  for (int i = 0; i < 300000; ++i) {
    const std::int32_t accumulator =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(random())) >> (random() % 30u);
    // Half of the scales are powers of two, for which ties occur.
    const float near_one =
        (random() & 1u) != 0u ? 1.0f : 1.0f + 0x1p-23f * static_cast<float>(random() % 8388608u);
    const float scale = std::ldexp(near_one, -static_cast<int>(random() % 26u));
    const int u8_zero = static_cast<int>(random() % 256u);
    const int s8_zero = u8_zero - 128;
    const float product = opaque(static_cast<float>(accumulator) * scale);
    ASSERT_EQ(requantize_u8(accumulator, scale, u8_zero), expected_8bit(product, u8_zero, 0, 255));
    ASSERT_EQ(requantize_s8(accumulator, scale, s8_zero),
              expected_8bit(product, s8_zero, -128, 127));
  }
}

TEST(FloatQuantize, DequantizesWithOneRoundedProduct) {
  for (int zero_point = 0; zero_point < 256; zero_point += 5) {
    for (int value = 0; value < 256; ++value) {
      const double exact = static_cast<double>(value - zero_point) * static_cast<double>(0.1f);
      ASSERT_EQ(dequantize(value, 0.1f, zero_point), static_cast<float>(exact));
    }
  }
}

// The product must be rounded before the sum even where the compiler would like to fuse them.
TEST(FloatQuantize, DequantizedValuesAreNotFusedIntoASum) {
  Random random(8);
  int distinguishable = 0;
  for (int i = 0; i < 1000; ++i) {
    const float scale = 1.0f + static_cast<float>(random() % 8388608u) * 0x1p-23f;
    const int value = static_cast<int>(random() % 255u) + 1;
    const float addend =
        -static_cast<float>(static_cast<double>(value) * static_cast<double>(scale));
    EXPECT_EQ(dequantize(value, scale, 0) + addend, 0.0f);
    if (std::fma(static_cast<float>(value), scale, addend) != 0.0f) ++distinguishable;
  }
  EXPECT_GT(distinguishable, 100);
}

TEST(FloatExp, EqualsTheRecordedResults) {
  constexpr std::size_t kCount = std::size(testdata::kExpInput);
  for (std::size_t i = 0; i < kCount; ++i) {
    const float x = bits_float(testdata::kExpInput[i]);
    EXPECT_EQ(float_bits(exp_f32(x)), testdata::kExpOutput[i]) << "exp of " << x;
  }
}

TEST(FloatExp, IsWithinOneUnitInTheLastPlaceOfTheTruth) {
  for (float x = -87.0f; x < 88.5f; x += 0.00123f) {
    const double truth = std::exp(static_cast<double>(x));
    const double unit = std::ldexp(1.0, std::ilogb(truth) - 23);
    ASSERT_LE(std::fabs(static_cast<double>(exp_f32(x)) - truth), unit) << x;
  }
}

TEST(FloatExp, KeepsNaN) { EXPECT_TRUE(is_nan(exp_f32(kNaN))); }

TEST(FloatSoftmax, EqualsTheRecordedResults) {
  std::size_t begin = 0;
  for (const testdata::SoftmaxRow& row : testdata::kSoftmaxRows) {
    const std::size_t length = static_cast<std::size_t>(row.length);
    std::vector<float> x(length);
    for (std::size_t i = 0; i < length; ++i) x[i] = bits_float(testdata::kSoftmaxInput[begin + i]);
    std::vector<float> y(length);
    softmax_f32(x.data(), y.data(), 1, row.length);
    for (std::size_t i = 0; i < length; ++i) {
      EXPECT_EQ(float_bits(y[i]), testdata::kSoftmaxOutput[begin + i])
          << row.description << ", element " << i;
    }
    begin += length;
  }
  EXPECT_EQ(begin, std::size(testdata::kSoftmaxInput));
}

TEST(FloatSoftmax, TreatsRowsIndependentlyAndMayWorkInPlace) {
  Random random(9);
  std::normal_distribution<float> values(0.0f, 5.0f);
  constexpr int kRows = 7;
  constexpr int kLength = 37;
  std::vector<float> x(kRows * kLength);
  for (float& value : x) value = values(random);
  std::vector<float> one_by_one(x.size());
  for (int row = 0; row < kRows; ++row) {
    softmax_f32(x.data() + row * kLength, one_by_one.data() + row * kLength, 1, kLength);
  }
  softmax_f32(x.data(), x.data(), kRows, kLength);
  EXPECT_EQ(x, one_by_one);
}

constexpr int kLongest = 37;

// `n` elements `step` apart, of which the one at `at` is `special`.
std::vector<float> row_with(float special, int n, int at, int step) {
  std::vector<float> row(static_cast<std::size_t>(n) * static_cast<std::size_t>(step), 1.0f);
  for (int i = 0; i < n; ++i) row.begin()[i * step] = static_cast<float>(i % 5);
  row.begin()[at * step] = special;
  return row;
}

void expect_the_one_nan(const std::vector<float>& y, int n, int step) {
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(float_bits(y[static_cast<std::size_t>(i * step)]), 0x7fc00000u) << i << " of " << n;
}

// Where ONNX Runtime has any NaN: the same bits on every machine, whatever NaN came in.
TEST(FloatSoftmax, GivesRowsWithoutResultOneNaN) {
  for (const float special : {kNaN, -kNaN, bits_float(0x7fc12345u), kInfinity}) {
    for (int n = 1; n <= kLongest; ++n) {
      for (const int at : {0, n / 2, n - 1}) {
        for (const int step : {1, 3}) {
          const std::vector<float> x = row_with(special, n, at, step);
          const RowsShape shape{1, n, n * step, step, n * step, step};
          std::vector<float> y(x.size());
          softmax_rows(shape, x.data(), y.data());
          expect_the_one_nan(y, n, step);
          log_softmax_rows(shape, x.data(), y.data());
          expect_the_one_nan(y, n, step);
        }
      }
    }
  }
}

TEST(FloatSoftmax, GivesRowsOfMinusInfinityOneNaN) {
  for (int n = 1; n <= kLongest; ++n) {
    const std::vector<float> x(static_cast<std::size_t>(n), -kInfinity);
    std::vector<float> y(x.size());
    softmax_f32(x.data(), y.data(), 1, n);
    expect_the_one_nan(y, n, 1);
    log_softmax_rows(RowsShape{1, n, n, 1, n, 1}, x.data(), y.data());
    expect_the_one_nan(y, n, 1);
  }
}

// Of neighbouring rows that vectors take together.
TEST(FloatSoftmax, KeepsTheRowsBesideOneWithoutResult) {
  constexpr int kRows = 19, kLength = 3;
  std::vector<float> x(kRows * kLength, 2.0f);
  x[kRows + 4] = kNaN;
  for (const int row : {0, 9, 18}) x[static_cast<std::size_t>(row)] = kInfinity;
  std::vector<float> y(x.size());
  softmax_rows(RowsShape{kRows, kLength, 1, kRows, 1, kRows}, x.data(), y.data());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t row = i % kRows;
    const bool without = row == 4 || row % 9 == 0;
    EXPECT_EQ(float_bits(y[i]), without ? 0x7fc00000u : float_bits(1.0f / 3.0f)) << i;
  }
}

TEST(FloatSoftmax, GivesMinusInfinityNoShare) {
  const float x[3] = {0.0f, -kInfinity, 0.0f};
  float y[3];
  softmax_f32(x, y, 1, 3);
  EXPECT_EQ(y[0], 0.5f);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_EQ(y[2], 0.5f);
}

}  // namespace
}  // namespace etch::rt
