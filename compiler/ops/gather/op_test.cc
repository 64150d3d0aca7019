// Gather: slices by index, and indices outside.
#include "compiler/ops/gather/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Gather, ReplacesTheAxisByTheShapeOfTheIndices) {
  OneNode node("Gather");
  node.input(counting({2, 3})).constant(s64({2, 1}, {2, -3})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), f32({2, 2, 1}, {2, 0, 5, 3}));
}

TEST(Gather, ScalarIndexDropsTheAxis) {
  OneNode node("Gather");
  node.input(counting({2, 3})).constant(s64({}, {1}));
  EXPECT_EQ(node.run().at(0), f32({3}, {3, 4, 5}));
}

TEST(Gather, IndicesAtRunTimeAreClamped) {
  OneNode node("Gather");
  node.input(counting({3})).input(s32({4}, {-9, -1, 1, 9}));
  EXPECT_EQ(node.run().at(0), f32({4}, {0, 2, 1, 2}));
}

TEST(Gather, ConstantIndicesMustBeInRange) {
  OneNode node("Gather");
  node.input(counting({3})).constant(s64({1}, {3}));
  EXPECT_EQ(node.errors(), "E-SHAPE: must be in [-3, 2], got 3");
}

TEST(Gather, NothingCanBePickedFromAnEmptyAxis) {
  OneNode node("Gather");
  node.input(counting({0, 2})).input(s64({1}, {0}));
  EXPECT_EQ(node.errors(), "E-SHAPE: the axis is empty, there is nothing to pick");
}

TEST(Gather, IndicesMustBeIntegers) {
  OneNode node("Gather");
  node.input(counting({3})).input(u8({1}, {0}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be int32, int64, got uint8");
}

TEST(Gather, AxisMustExist) {
  OneNode node("Gather");
  node.input(counting({3})).constant(s64({1}, {0})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.errors(), "E-ATTR: must be in [-1, 0], got 1");
}

}  // namespace
}  // namespace etch
