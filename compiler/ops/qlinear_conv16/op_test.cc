// QLinearConv16: rounding by hand, factors, and what cannot be proved.
#include "compiler/ops/qlinear_conv16/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor s16(Shape shape, const std::vector<std::int16_t>& values) {
  return Tensor::of<std::int16_t>(std::move(shape), values);
}

// y = rne(x * weight / 2), one pixel after the other.
OneNode halved(const std::vector<std::int16_t>& x, std::int8_t weight) {
  OneNode node("QLinearConv16", "org.etch", 1);
  node.input(s16({1, 1, static_cast<std::int64_t>(x.size())}, x));
  node.constant(f32({}, {0.5F})).constant(s16({}, {0}));
  node.constant(s8({1, 1, 1}, {weight})).constant(f32({}, {1})).constant(s8({}, {0}));
  node.constant(f32({}, {1})).constant(s16({}, {0}));
  return node;
}

TEST(QLinearConv16, RoundsTiesToEvenAndSaturates) {
  const Tensor y = halved({1, 3, 5, -1, -3, 4, 32767, -32768}, 1).run().at(0);
  EXPECT_EQ(y, s16({1, 1, 8}, {0, 2, 2, 0, -2, 2, 16384, -16384}));
  EXPECT_EQ(halved({32767, -32768}, 3).run().at(0), s16({1, 1, 2}, {32767, -32768}));
}

TEST(QLinearConv16, FactorsHave60Bits) {
  const WideScale half = wide_scale(0.5F, 1, 1);
  EXPECT_EQ(half.factor, std::int64_t{1} << 59);
  EXPECT_EQ(half.exponent, 60);
  const WideScale third = wide_scale(1, 1, 3);
  EXPECT_EQ(third.factor, 0xaaaaaaaaaaaaaaa);  // 2/3 of 2^60, cut off
  EXPECT_EQ(third.exponent, 61);
}

// What a bias has beyond an integer decides ties, and what is near them.
TEST(QLinearConv16, RestsOfABiasCount) {
  constexpr std::int32_t kUnit = 1 << 30;  // half of 1 in the sum, a quarter of y
  const auto with_rest = [](std::int32_t rest) {
    OneNode node = halved({1, 3, 5, -1, -3, 4, 2}, 1);
    node.constant(s32({1}, {0})).constant(s32({1}, {rest}));
    return node;
  };
  EXPECT_EQ(with_rest(kUnit).run().at(0), s16({1, 1, 7}, {1, 2, 3, 0, -1, 2, 1}));
  EXPECT_EQ(with_rest(-kUnit).run().at(0), s16({1, 1, 7}, {0, 1, 2, -1, -2, 2, 1}));
  EXPECT_EQ(with_rest(8).run().at(0), s16({1, 1, 7}, {1, 2, 3, 0, -1, 2, 1}));
  EXPECT_EQ(with_rest(kUnit + 1).errors(), "E-QUANT: must be at most half a unit of B");
}

TEST(QLinearConv16, SumsThatMayLeaveInt32AreRefused) {
  OneNode fits = halved({1}, 1);
  fits.constant(s32({1}, {INT32_MAX - 32767}));
  EXPECT_EQ(fits.errors(), "");
  OneNode least = halved({1}, 1);
  least.constant(s32({1}, {INT32_MIN + 32768}));
  EXPECT_EQ(least.errors(), "");
  OneNode one_more = halved({1}, 1);
  one_more.constant(s32({1}, {INT32_MAX - 32766}));
  EXPECT_EQ(one_more.errors(), "E-UNSUPPORTED: its sums may leave int32");
  OneNode one_less = halved({1}, 1);
  one_less.constant(s32({1}, {INT32_MIN + 32767}));
  EXPECT_EQ(one_less.errors(), "E-UNSUPPORTED: its sums may leave int32");
}

// [1, channels] times weights of one value; y = sum / 2^shift.
OneNode product(std::int64_t channels, std::int16_t x, std::uint8_t weight, float scale) {
  const std::size_t count = static_cast<std::size_t>(channels);
  OneNode node("QLinearMatMul16", "org.etch", 1);
  node.input(s16({1, channels}, std::vector<std::int16_t>(count, x)));
  node.constant(f32({}, {1})).constant(s16({}, {0}));
  node.constant(u8({1, channels}, std::vector<std::uint8_t>(count, weight)));
  node.constant(f32({}, {1})).constant(u8({}, {0}));
  node.constant(f32({}, {scale})).constant(s16({}, {0}));
  return node;
}

TEST(QLinearConv16, WeightsMayLeave8BitsLessTheirZeroPoint) {
  EXPECT_EQ(product(2, 100, 255, 51).run().at(0), s16({1, 1}, {1000}));
  EXPECT_EQ(product(3, -100, 255, 51).run().at(0), s16({1, 1}, {-1500}));
}

// 2^31 / 32768 is beyond the limits of y, 2^31 / 65540 is not.
TEST(QLinearConv16, SumsBeyondInt32AreLimitedWhereYIs) {
  EXPECT_EQ(product(400, 32767, 255, 32768).run().at(0), s16({1, 1}, {32767}));
  EXPECT_EQ(product(400, -32768, 255, 32768).run().at(0), s16({1, 1}, {-32768}));
  EXPECT_EQ(product(400, 1000, 255, 32768).run().at(0), s16({1, 1}, {3113}));
  EXPECT_EQ(product(400, 1000, 255, 65540).errors(),
            "E-UNSUPPORTED: its sums may leave int32 where the result is not limited");
}

}  // namespace
}  // namespace etch
