// ConstantOfShape: its value and its shape.
#include "compiler/ops/constant_of_shape/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(ConstantOfShape, FillsWithFloatZeroByDefault) {
  OneNode node("ConstantOfShape");
  node.constant(s64({2}, {2, 1}));
  EXPECT_EQ(node.run().at(0), f32({2, 1}, {0, 0}));
}

TEST(ConstantOfShape, FillsWithTheValue) {
  OneNode node("ConstantOfShape");
  node.constant(s64({1}, {3})).attribute("value", s8({1}, {-7}));
  EXPECT_EQ(node.run().at(0), s8({3}, {-7, -7, -7}));
}

TEST(ConstantOfShape, EmptyShapeMakesAScalar) {
  OneNode node("ConstantOfShape");
  node.constant(s64({0}, {}));
  EXPECT_EQ(node.run().at(0), f32({}, {0}));
}

TEST(ConstantOfShape, ValueMustHaveOneElement) {
  OneNode node("ConstantOfShape");
  node.constant(s64({1}, {3})).attribute("value", s8({2}, {1, 2}));
  EXPECT_EQ(node.errors(), "E-ATTR: must have one element, got 2");
}

TEST(ConstantOfShape, ShapeMustBeKnownAndPossible) {
  OneNode unknown("ConstantOfShape");
  unknown.input(s64({1}, {3}));
  EXPECT_EQ(unknown.errors(), "E-UNSUPPORTED: must be known at compile time");
  OneNode negative("ConstantOfShape");
  negative.constant(s64({1}, {-3}));
  EXPECT_EQ(negative.errors().substr(0, 7), "E-SHAPE");
  OneNode huge("ConstantOfShape");
  huge.constant(s64({2}, {std::int64_t{1} << 40, std::int64_t{1} << 40}));
  EXPECT_EQ(huge.errors().substr(0, 7), "E-LIMIT");
}

}  // namespace
}  // namespace etch
