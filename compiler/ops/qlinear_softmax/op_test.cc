// QLinearSoftmax: rows, the floor of 1 / y_scale, refusals.
#include "compiler/ops/qlinear_softmax/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode softmax(const Tensor& x, float x_scale, float y_scale, std::int64_t opset) {
  OneNode node("QLinearSoftmax", "com.microsoft", 1);
  node.input(x).constant(f32({}, {x_scale})).constant(u8({}, {0}));
  node.constant(f32({}, {y_scale})).constant(u8({}, {0}));
  node.attribute("opset", opset);
  return node;
}

TEST(QLinearSoftmax, EqualElementsShareEqually) {
  EXPECT_EQ(softmax(u8({1, 4}, {7, 7, 7, 7}), 0.1F, 1.0F / 256, 13).run().at(0),
            u8({1, 4}, {64, 64, 64, 64}));
}

TEST(QLinearSoftmax, InverseScaleIsRoundedDown) {
  // 1 / y_scale = 7.9 counts as 7, and half of that rounds to 4; half of 9.9 = 4.95 would be 5, but
  // half of 9 rounds to 4.
  EXPECT_EQ(softmax(u8({1, 2}, {7, 7}), 0.1F, 1 / 7.9F, 13).run().at(0), u8({1, 2}, {4, 4}));
  EXPECT_EQ(softmax(u8({1, 2}, {7, 7}), 0.1F, 1 / 9.9F, 13).run().at(0), u8({1, 2}, {4, 4}));
}

TEST(QLinearSoftmax, ARowOfOneElementIsOne) {
  EXPECT_EQ(softmax(u8({2, 1}, {0, 255}), 0.1F, 1.0F / 256, 13).run().at(0),
            u8({2, 1}, {255, 255}));
  EXPECT_EQ(softmax(u8({2, 1}, {0, 255}), 0.1F, 1.0F / 200, 13).run().at(0),
            u8({2, 1}, {200, 200}));
}

TEST(QLinearSoftmax, SmallScalesSaturate) {
  const Tensor equal = u8({1, 8}, {7, 7, 7, 7, 7, 7, 7, 7});
  EXPECT_EQ(softmax(equal, 0.1F, 0.000674F, 13).run().at(0),
            u8({1, 8}, {185, 185, 185, 185, 185, 185, 185, 185}));
  EXPECT_EQ(softmax(u8({1, 3}, {0, 255, 255}), 1, 1e-38F, 13).run().at(0),
            u8({1, 3}, {0, 255, 255}));
}

TEST(QLinearSoftmax, LargeScalesGiveTheZeroPoint) {
  EXPECT_EQ(softmax(u8({1, 2}, {7, 7}), 0.1F, 1e38F, 13).run().at(0), u8({1, 2}, {0, 0}));
}

TEST(QLinearSoftmax, TrailingAxesCountAsOneBeforeOpset13) {
  OneNode flat = softmax(u8({1, 2, 2}, {5, 5, 5, 5}), 1, 1.0F / 256, 12);
  flat.attribute("axis", std::int64_t{1});
  EXPECT_EQ(flat.run().at(0), u8({1, 2, 2}, {64, 64, 64, 64}));
  OneNode one = softmax(u8({1, 2, 2}, {5, 5, 5, 5}), 1, 1.0F / 256, 13);
  one.attribute("axis", std::int64_t{1});
  EXPECT_EQ(one.run().at(0), u8({1, 2, 2}, {128, 128, 128, 128}));
}

TEST(QLinearSoftmax, OpsetIsRequired) {
  OneNode node("QLinearSoftmax", "com.microsoft", 1);
  node.input(u8({1, 1}, {7})).constant(f32({}, {1})).omitted().constant(f32({}, {1}));
  EXPECT_EQ(node.errors(), "E-ATTR: is missing");
  EXPECT_EQ(softmax(u8({1, 1}, {7}), 1, 1, 0).errors(), "E-ATTR: must be >= 1, got 0");
}

TEST(QLinearSoftmax, AxisMustExist) {
  OneNode node = softmax(u8({1, 1}, {7}), 1, 1, 13);
  node.attribute("axis", std::int64_t{2});
  EXPECT_EQ(node.errors(), "E-ATTR: must be in [-2, 1], got 2");
}

TEST(QLinearSoftmax, InverseOfTheScaleMustBeFinite) {
  EXPECT_EQ(softmax(u8({1, 1}, {7}), 1, 1e-39F, 13).errors(),
            "E-QUANT: 1 / y_scale must be finite in float32");
}

TEST(QLinearSoftmax, TypesMustBeEightBits) {
  EXPECT_EQ(softmax(counting({1, 1}), 1, 1, 13).errors(),
            "E-TYPE: must be uint8, int8, got float32");
}

}  // namespace
}  // namespace etch
