// QLinearMul16: rounding by hand and against double precision, limits, and what is refused.
#include "compiler/ops/qlinear_mul16/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

template <class T>
Tensor words(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}

struct MulScales {
  float a = 1, b = 1, y = 1;
};
struct MulZeros {
  int a = 0, b = 0, y = 0;
};

template <class T>
OneNode product(const std::vector<T>& a, const std::vector<T>& b, const MulScales& scales,
                const MulZeros& zeros = {}) {
  const auto zero = [](int value) { return Tensor::of<T>({}, {static_cast<T>(value)}); };
  OneNode node("QLinearMul16", "org.etch", 1);
  node.input(words(a)).constant(f32({}, {scales.a})).constant(zero(zeros.a));
  node.constant(f32({}, {scales.y})).constant(zero(zeros.y));
  node.input(words(b)).constant(f32({}, {scales.b})).constant(zero(zeros.b));
  return node;
}

using S16 = std::vector<std::int16_t>;
using U16 = std::vector<std::uint16_t>;

TEST(QLinearMul16, RoundsTiesToEvenAndSaturates) {
  EXPECT_EQ(product<std::int16_t>({1, 3, 5, -1, -3}, {1, 1, 1, 1, 1}, {1, 1, 2}).run().at(0),
            words<std::int16_t>({0, 2, 2, 0, -2}));
  EXPECT_EQ(product<std::int16_t>({-32768, 32767, -32768}, {-32768, -32768, 1}, {}).run().at(0),
            words<std::int16_t>({32767, -32768, -32768}));
  // The largest product of all: 65535 * 65535.
  EXPECT_EQ(product<std::uint16_t>({65535, 65535}, {65535, 0}, {1, 1, 65535}).run().at(0),
            words<std::uint16_t>({65535, 0}));
  EXPECT_EQ(product<std::uint16_t>({0, 9}, {65535, 9}, {1, 1, 3}, {65535, 0, 65535}).run().at(0),
            words<std::uint16_t>({0, 0}));
  EXPECT_EQ(product<std::uint16_t>({7, 9}, {5, 9}, {1, 1, 3}, {8, 8, 4}).run().at(0),
            words<std::uint16_t>({5, 4}));
}

// Quotients of doubles are exact enough: what is no tie is farther away from one.
TEST(QLinearMul16, IsTheRealNumbersRoundedOnce) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> word(-32768, 32767), significand(8388608, 16777215);
  for (int i = 0; i < 40; ++i) {
    const MulScales scales{static_cast<float>(significand(random)) * 0x1p-20F,
                           static_cast<float>(significand(random)) * 0x1p-24F,
                           static_cast<float>(significand(random)) * (i % 2 == 0 ? 0x1p-5F : 1)};
    S16 a, b, y;
    for (int k = 0; k < 200; ++k) {
      a.push_back(static_cast<std::int16_t>(word(random)));
      b.push_back(static_cast<std::int16_t>(word(random)));
      const double real =
          static_cast<double>(a.back()) * b.back() * (double{scales.a} * scales.b / scales.y);
      y.push_back(static_cast<std::int16_t>(std::clamp(std::nearbyint(real), -32768.0, 32767.0)));
    }
    EXPECT_EQ(product(a, b, scales).run().at(0), words(y)) << i;
  }
}

TEST(QLinearMul16, ExtremeRatiosAreRefused) {
  const char* const refused = "E-QUANT: the ratio of its scales is extreme";
  EXPECT_EQ(product<std::int16_t>({1}, {1}, {0x1p27F, 1, 1}).errors(), "");
  EXPECT_EQ(product<std::int16_t>({1}, {1}, {0x1p28F, 1, 1}).errors(), refused);
  EXPECT_EQ(product<std::int16_t>({1}, {1}, {1, 1, 0x1p33F}).errors(), "");
  EXPECT_EQ(product<std::int16_t>({1}, {1}, {1, 1, 0x1p34F}).errors(), refused);
}

TEST(QLinearMul16, ShapesMustAgree) {
  EXPECT_EQ(product<std::int16_t>({1, 2}, {1, 2, 3}, {}).errors(),
            "E-SHAPE: shapes [2] and [3] do not broadcast");
}

}  // namespace
}  // namespace etch
