// QLinearProduct16: rounding by hand and against long double, limits, batches, and what is refused.
#include "compiler/ops/qlinear_product16/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/etch_word_matrices.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

template <class T>
Tensor words(const Shape& shape, const std::vector<T>& values) {
  return Tensor::of<T>(shape, values);
}

struct ProductScales {
  float a = 1, b = 1, y = 1;
};
struct ProductZeros {
  int a = 0, b = 0, y = 0;
};

template <class T>
OneNode product(const Tensor& a, const Tensor& b, const ProductScales& scales,
                const ProductZeros& zeros = {}) {
  const auto zero = [](int value) { return Tensor::of<T>({}, {static_cast<T>(value)}); };
  OneNode node("QLinearProduct16", "org.etch", 1);
  node.input(a).constant(f32({}, {scales.a})).constant(zero(zeros.a));
  node.constant(f32({}, {scales.y})).constant(zero(zeros.y));
  node.input(b).constant(f32({}, {scales.b})).constant(zero(zeros.b));
  return node;
}

using S16 = std::vector<std::int16_t>;
using U16 = std::vector<std::uint16_t>;

TEST(QLinearProduct16, RoundsTiesToEvenAndSaturates) {
  const Tensor ones = words<std::int16_t>({2, 1}, {1, 1});
  const Tensor rows = words<std::int16_t>({5, 2}, {1, 0, 1, 2, 4, 1, -1, 0, -1, -2});
  EXPECT_EQ(product<std::int16_t>(rows, ones, {1, 1, 2}).run().at(0),
            words<std::int16_t>({5, 1}, {0, 2, 2, 0, -2}));
  const Tensor most = words<std::int16_t>({1, 2}, {-32768, -32768});
  const Tensor columns = words<std::int16_t>({2, 2}, {-32768, 32767, -32768, 32767});
  EXPECT_EQ(product<std::int16_t>(most, columns, {}).run().at(0),
            words<std::int16_t>({1, 2}, {32767, -32768}));
  // 2 * 65535 * 65535 in units of 131070, which float32 does not have.
  EXPECT_EQ(product<std::uint16_t>(words<std::uint16_t>({2}, {65535, 65535}),
                                   words<std::uint16_t>({2}, {65535, 65535}), {1, 1, 131070})
                .run()
                .at(0),
            words<std::uint16_t>({}, {65535}));
}

TEST(QLinearProduct16, BroadcastsMatricesAndTakesOffZeroPoints) {
  const Tensor a = words<std::uint16_t>({2, 1, 2}, {9, 10, 11, 12});
  const Tensor b = words<std::uint16_t>({2, 2}, {5, 6, 7, 8});
  // (-1, 0) and (1, 2) times ((0, 1), (2, 3)).
  EXPECT_EQ(product<std::uint16_t>(a, b, {}, {10, 5, 100}).run().at(0),
            words<std::uint16_t>({2, 1, 2}, {100, 99, 104, 107}));
}

// Long doubles have every sum, and what is no tie is farther away from one than they err.
TEST(QLinearProduct16, IsTheRealNumbersRoundedOnce) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> word(-32768, 32767), significand(8388608, 16777215);
  for (int i = 0; i < 30; ++i) {
    const std::size_t depth = static_cast<std::size_t>(i) * 9 + 1;
    const ProductScales scales{
        static_cast<float>(significand(random)) * 0x1p-24F,
        static_cast<float>(significand(random)) * 0x1p-24F,
        static_cast<float>(significand(random)) * (i % 2 == 0 ? 0x1p-7F : 1)};
    S16 a(depth * 3), b(depth * 4), y;
    for (std::int16_t& each : a) each = static_cast<std::int16_t>(word(random));
    for (std::int16_t& each : b) each = static_cast<std::int16_t>(word(random));
    const long double m = static_cast<long double>(scales.a) * scales.b / scales.y;
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 4; ++c) {
        long double sum = 0;
        for (std::size_t k = 0; k < depth; ++k) sum += a[r * depth + k] * b[k * 4 + c];
        y.push_back(static_cast<std::int16_t>(
            std::clamp<long double>(std::nearbyint(sum * m), -32768, 32767)));
      }
    }
    const auto length = static_cast<std::int64_t>(depth);
    EXPECT_EQ(product<std::int16_t>(words({3, length}, a), words({length, 4}, b), scales).run()[0],
              words({3, 4}, y))
        << i;
  }
}

// The runtime's rounding on every shift, near ties and limits.
TEST(QLinearProduct16, TheRuntimeRoundsAsTheReference) {
  std::mt19937_64 random(7);
  const rt::WordLimits limits{0, -32768, 32767};
  for (int shift = 1; shift <= 61; ++shift) {
    for (int i = 0; i < 200; ++i) {
      std::int64_t factor = (std::int64_t{1} << 59) + static_cast<std::int64_t>(random() >> 5);
      if (i % 4 == 0) factor = std::int64_t{1} << 59;
      if (i % 4 == 1) factor = std::int64_t{3} << 58;
      const WideScale scale{factor, shift + 31};
      // About a result of 16 bits, then of any size.
      const int bits = std::clamp(shift - 28 + 17 - i % 20, 1, 52);
      std::int64_t sum = static_cast<std::int64_t>(random() >> (64 - bits));
      if (i % 4 == 0) sum = (sum | 1) << std::clamp(shift - 29, 0, 30);
      sum &= (std::int64_t{1} << 52) - 1;
      const rt::WordProduct product{0,
                                    0,
                                    static_cast<std::uint32_t>(scale.high()),
                                    static_cast<std::uint32_t>(scale.low()),
                                    shift,
                                    limits};
      for (const std::int64_t each : {sum, -sum}) {
        const auto expected = std::clamp<std::int64_t>(scaled_total(each, scale), -32768, 32767);
        ASSERT_EQ(rt::word_total<std::int16_t>(product, each), expected) << shift << " " << each;
        ASSERT_EQ(rt::near_total<std::int16_t>(product, rt::guess_of(product), each), expected)
            << shift << " " << each;
      }
    }
  }
}

// Vectors round by upper bits where these decide, and ask word_total() about the rest: factors that
// are powers of two have ties among few values of low bits.
TEST(QLinearProduct16, MatricesRoundEachSumAlike) {
  std::mt19937 random(9);
  std::uniform_int_distribution<int> word(-32768, 32767);
  constexpr int kDepth = 4, kColumns = 24;
  S16 a(kDepth), b(kDepth * kColumns), y(kColumns);
  for (int shift = 33; shift <= 44; ++shift) {
    for (int i = 0; i < 100; ++i) {
      for (std::int16_t& each : a) each = static_cast<std::int16_t>(word(random) & ~255);
      for (std::int16_t& each : b) each = static_cast<std::int16_t>(word(random) & ~15);
      const rt::WordProduct product{0, 0, 1U << 28, 0, shift, {0, -32768, 32767}};
      rt::matmul_words({1, kDepth, kColumns, kDepth, kColumns, kColumns}, product, a.data(),
                       b.data(), y.data());
      for (std::size_t c = 0; c < kColumns; ++c) {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < kDepth; ++k) sum += std::int64_t{a[k]} * b[k * kColumns + c];
        ASSERT_EQ(y[c], rt::word_total<std::int16_t>(product, sum)) << shift << " " << sum;
      }
    }
  }
}

TEST(QLinearProduct16, ExtremesAreRefused) {
  const char* const refused = "E-QUANT: the ratio of its scales is extreme";
  const Tensor one = words<std::int16_t>({1, 1}, {1});
  EXPECT_EQ(product<std::int16_t>(one, one, {0x1p27F, 1, 1}).errors(), "");
  EXPECT_EQ(product<std::int16_t>(one, one, {0x1p28F, 1, 1}).errors(), refused);
  EXPECT_EQ(product<std::int16_t>(one, one, {1, 1, 0x1p33F}).errors(), "");
  EXPECT_EQ(product<std::int16_t>(one, one, {1, 1, 0x1p34F}).errors(), refused);
  EXPECT_EQ(
      product<std::int16_t>(words<std::int16_t>({2, 0}, {}), words<std::int16_t>({0, 2}, {}), {})
          .errors(),
      "E-SHAPE: rows of a have no element, or more than 2^20");
}

}  // namespace
}  // namespace etch
