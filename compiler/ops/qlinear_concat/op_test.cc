// QLinearConcat: copies, requantizes, refuses.
#include "compiler/ops/qlinear_concat/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode concat(std::int64_t axis, const Tensor& a, float a_scale, const Tensor& b, float b_scale) {
  OneNode node("QLinearConcat", "com.microsoft", 1);
  node.constant(f32({}, {1})).constant(u8({}, {0}));
  node.input(a).constant(f32({}, {a_scale})).constant(u8({}, {0}));
  node.input(b).constant(f32({}, {b_scale})).constant(u8({}, {0}));
  node.attribute("axis", axis);
  return node;
}

TEST(QLinearConcat, RequantizesWhatDiffers) {
  OneNode node = concat(1, u8({2, 1}, {1, 200}), 1, u8({2, 2}, {1, 3, 5, 255}), 0.5F);
  EXPECT_EQ(node.run().at(0), u8({2, 3}, {1, 0, 2, 200, 2, 128}));
}

TEST(QLinearConcat, OtherAxesMustBeEqual) {
  EXPECT_EQ(concat(1, u8({1, 1}, {1}), 1, u8({2, 1}, {1, 2}), 1).errors(),
            "E-SHAPE: input 5 of shape [2, 1] does not fit [1, 1] along axis 1");
}

TEST(QLinearConcat, AxisIsRequiredAndMustExist) {
  EXPECT_EQ(concat(2, u8({1, 1}, {1}), 1, u8({1, 1}, {1}), 1).errors(),
            "E-ATTR: must be in [-2, 1], got 2");
  OneNode missing("QLinearConcat", "com.microsoft", 1);
  missing.constant(f32({}, {1})).constant(u8({}, {0})).input(u8({1}, {1})).constant(f32({}, {1}));
  EXPECT_EQ(missing.errors(), "E-ATTR: is missing");
}

TEST(QLinearConcat, TypesMustBeEqual) {
  EXPECT_EQ(concat(0, u8({1}, {1}), 1, s8({1}, {1}), 1).errors(),
            "E-TYPE: must be uint8, got int8");
  EXPECT_EQ(concat(0, counting({1}), 1, counting({1}), 1).errors(),
            "E-TYPE: must be uint8, int8, got float32");
}

TEST(QLinearConcat, SomethingMustBeJoined) {
  OneNode node("QLinearConcat", "com.microsoft", 1);
  node.constant(f32({}, {1})).attribute("axis", std::int64_t{0});
  EXPECT_EQ(node.errors(), "E-GRAPH: input 2 (X) is missing");
}

TEST(QLinearConcat, EveryInputNeedsItsScale) {
  OneNode node("QLinearConcat", "com.microsoft", 1);
  node.constant(f32({}, {1})).constant(u8({}, {0})).input(u8({1}, {1})).constant(f32({}, {1}));
  node.constant(u8({}, {0})).input(u8({1}, {1})).attribute("axis", std::int64_t{0});
  EXPECT_EQ(node.errors(), "E-GRAPH: input 6 (X_scale) is missing");
}

}  // namespace
}  // namespace etch
