// Softmax: which elements belong together, before and since opset 13.
#include "compiler/ops/softmax/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

SoftmaxRows rows_of(std::int64_t opset, std::int64_t axis) {
  OneNode node("Softmax", "", opset);
  node.input(counting({2, 3, 4})).attribute("axis", axis);
  EXPECT_TRUE(node.resolve());
  return params_of<Softmax>(node.node()).rows;
}

TEST(Softmax, BeforeOpset13TheTrailingAxesCountAsOne) {
  const SoftmaxRows rows = rows_of(11, 1);
  EXPECT_EQ(rows.outer, 2);
  EXPECT_EQ(rows.size, 12);
  EXPECT_EQ(rows.inner, 1);
}

TEST(Softmax, SinceOpset13OneAxisIsNormalized) {
  const SoftmaxRows rows = rows_of(13, 1);
  EXPECT_EQ(rows.outer, 2);
  EXPECT_EQ(rows.size, 3);
  EXPECT_EQ(rows.inner, 4);
}

TEST(Softmax, EqualElementsShareEqually) {
  OneNode node("Softmax");
  node.input(f32({2, 2}, {3, 3, 9, 3})).attribute("axis", std::int64_t{0});
  const Tensor y = node.run().at(0);
  EXPECT_EQ(y.real(1), 0.5F);
  EXPECT_EQ(y.real(3), 0.5F);
  EXPECT_NEAR(y.real(0) + y.real(2), 1.0F, 1e-6F);
}

TEST(Softmax, AxisMustExist) {
  OneNode node("Softmax");
  node.input(counting({2})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.errors(), "E-ATTR: must be in [-1, 0], got 1");
}

TEST(Softmax, TypesOtherThanFloatAreRefused) {
  OneNode node("Softmax");
  node.input(u8({1, 2}, {1, 2}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got uint8");
}

TEST(LogSoftmax, IsTheLogarithmOfTheShares) {
  OneNode node("LogSoftmax");
  node.input(f32({1, 2}, {0, 0}));
  EXPECT_NEAR(node.run().at(0).real(1), -0.69314718F, 1e-7F);
  OneNode far("LogSoftmax");
  far.input(f32({2}, {1000, -1000}));  // whose share is 0
  EXPECT_EQ(far.run().at(0), f32({2}, {0, -2000}));
}

}  // namespace
}  // namespace etch
