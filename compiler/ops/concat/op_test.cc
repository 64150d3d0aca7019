// Concat: along any axis, and parts that do not fit.
#include "compiler/ops/concat/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Concat, JoinsAlongTheAxis) {
  OneNode node("Concat");
  node.input(counting({2, 1})).input(f32({2, 2}, {5, 6, 7, 8})).attribute("axis", std::int64_t{-1});
  EXPECT_EQ(node.run().at(0), f32({2, 3}, {0, 5, 6, 1, 7, 8}));
}

TEST(Concat, TakesEmptyParts) {
  OneNode node("Concat");
  node.input(u8({0}, {})).input(u8({1}, {9})).attribute("axis", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), u8({1}, {9}));
}

TEST(Concat, AxisIsRequiredAndMustExist) {
  OneNode missing("Concat");
  missing.input(counting({2}));
  EXPECT_EQ(missing.errors(), "E-ATTR: is missing");
  OneNode outside("Concat");
  outside.input(counting({2})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(outside.errors(), "E-ATTR: must be in [-1, 0], got 1");
}

TEST(Concat, TypesMustBeEqual) {
  OneNode node("Concat");
  node.input(counting({2})).input(u8({1}, {1})).attribute("axis", std::int64_t{0});
  EXPECT_EQ(node.errors(), "E-TYPE: inputs must have one element type, got float32 and uint8");
}

TEST(Concat, OtherAxesMustBeEqual) {
  OneNode node("Concat");
  node.input(counting({2, 2})).input(counting({3, 2})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.errors(), "E-SHAPE: input 1 of shape [3, 2] does not fit [2, 2] along axis 1");
}

TEST(Concat, InputsMayNotBeOmitted) {
  OneNode node("Concat");
  node.input(counting({2})).omitted().input(counting({2})).attribute("axis", std::int64_t{0});
  EXPECT_EQ(node.errors(), "E-GRAPH: input 1 is missing");
}

}  // namespace
}  // namespace etch
