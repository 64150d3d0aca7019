// QLinearConvAdd: a convolution and a sum one after the other, and the refusals.
#include "compiler/ops/qlinear_conv_add/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// One 1x1 tap with weight 1: y = round(x / 2) before the sum. Zero points are 0.
OneNode half_plus(const Tensor& x, const Tensor& residual, float sum_scale = 1) {
  OneNode node("QLinearConvAdd", "org.etch", 1);
  node.input(x).constant(f32({}, {1})).constant(u8({}, {0}));
  node.constant(u8({1, 1, 1}, {1})).constant(f32({}, {1})).constant(u8({}, {0}));
  node.constant(f32({}, {2})).constant(u8({}, {0})).omitted();
  node.input(residual).constant(f32({}, {1})).constant(u8({}, {0}));
  return std::move(node.constant(f32({}, {sum_scale})).constant(u8({}, {0})));
}

TEST(QLinearConvAdd, RoundsTheSummandFirst) {
  // 2 * round(x / 2) + r: 1/2 rounds to 0, 3/2 to 2.
  EXPECT_EQ(half_plus(u8({1, 1, 3}, {1, 3, 4}), u8({1, 1, 3}, {10, 20, 30})).run().at(0),
            u8({1, 1, 3}, {10, 24, 34}));
}

TEST(QLinearConvAdd, LimitsAreThoseOfTheSum) {
  OneNode node = half_plus(u8({1, 1, 3}, {0, 4, 200}), u8({1, 1, 3}, {1, 1, 100}));
  node.attribute("sum_low", std::int64_t{2}).attribute("sum_high", std::int64_t{90});
  EXPECT_EQ(node.run().at(0), u8({1, 1, 3}, {2, 5, 90}));
}

TEST(QLinearConvAdd, TheResidualMustMatch) {
  EXPECT_EQ(half_plus(u8({1, 1, 3}, {1, 3, 4}), u8({1, 1, 1}, {1})).errors(),
            "E-SHAPE: must be [1, 1, 3] like the convolution's result, got [1, 1, 1]");
  EXPECT_EQ(half_plus(u8({1, 1, 1}, {1}), s8({1, 1, 1}, {1})).errors(),
            "E-TYPE: must be uint8, got int8");
}

TEST(QLinearConvAdd, LimitsMustBeARange) {
  OneNode node = half_plus(u8({1, 1, 1}, {0}), u8({1, 1, 1}, {1}));
  node.attribute("sum_low", std::int64_t{9}).attribute("sum_high", std::int64_t{8});
  EXPECT_EQ(node.errors(), "E-ATTR: and sum_high must be a range within uint8, got 9 and 8");
}

}  // namespace
}  // namespace etch
