// QLinearSum16: rounding by hand and against double precision, limits, and what is refused.
#include "compiler/ops/qlinear_sum16/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor s16(const std::vector<std::int16_t>& values) {
  return Tensor::of<std::int16_t>({static_cast<std::int64_t>(values.size())}, values);
}

struct Scales {
  float a = 1, b = 1, y = 1;
};

OneNode sum(const std::vector<std::int16_t>& a, const std::vector<std::int16_t>& b,
            const Scales& scales) {
  const Tensor zero = Tensor::of<std::int16_t>({}, {0});
  OneNode node("QLinearSum16", "org.etch", 1);
  node.input(s16(a)).constant(f32({}, {scales.a})).constant(zero);
  node.constant(f32({}, {scales.y})).constant(zero);
  if (!b.empty()) node.input(s16(b)).constant(f32({}, {scales.b})).constant(zero);
  return node;
}

TEST(QLinearSum16, RoundsTiesToEvenAndSaturates) {
  EXPECT_EQ(sum({1, 3, 5, -1, -3, 4}, {}, {1, 1, 2}).run().at(0), s16({0, 2, 2, 0, -2, 2}));
  // Thirds have no ties, sixths have some.
  EXPECT_EQ(sum({1, 2, 3, 9, -9}, {}, {1, 1, 6}).run().at(0), s16({0, 0, 0, 2, -2}));
  EXPECT_EQ(sum({32767, -32768, 1}, {1, -1, 1}, {1, 1, 1}).run().at(0), s16({32767, -32768, 2}));
}

// Quotients of doubles are exact enough: what is no tie is farther away from one.
TEST(QLinearSum16, IsTheRealNumbersRoundedOnce) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> word(-32768, 32767), significand(8388608, 16777215);
  for (int i = 0; i < 40; ++i) {
    const Scales scales{
        static_cast<float>(significand(random)) * 0x1p-20F,
        static_cast<float>(significand(random)) * (i % 2 == 0 ? 0x1p-20F : 0x1p-25F),
        static_cast<float>(significand(random)) * 0x1p-19F};
    std::vector<std::int16_t> a, b, y;
    for (int k = 0; k < 200; ++k) {
      a.push_back(static_cast<std::int16_t>(word(random)));
      b.push_back(static_cast<std::int16_t>(word(random)));
      const double real = (a.back() * double{scales.a} + b.back() * double{scales.b}) / scales.y;
      y.push_back(static_cast<std::int16_t>(std::clamp(std::nearbyint(real), -32768.0, 32767.0)));
    }
    EXPECT_EQ(sum(a, b, scales).run().at(0), s16(y)) << i;
  }
}

TEST(QLinearSum16, ExtremeRatiosAreRefused) {
  EXPECT_EQ(sum({1}, {}, {4096, 1, 1}).errors(), "");
  EXPECT_EQ(sum({1}, {}, {4097, 1, 1}).errors(), "E-QUANT: the ratio of its scales is extreme");
  EXPECT_EQ(sum({1}, {1}, {1, 0x1p-61F, 1}).errors(), "");
  EXPECT_EQ(sum({1}, {1}, {1, 0x1p-62F, 1}).errors(),
            "E-QUANT: the ratio of its scales is extreme");
}

TEST(QLinearSum16, TypesAndShapesMustAgree) {
  OneNode node = sum({1, 2}, {1, 2, 3}, {});
  EXPECT_EQ(node.errors(), "E-SHAPE: shapes [2] and [3] do not broadcast");
}

}  // namespace
}  // namespace etch
