// Expand: a broadcast in both directions.
#include "compiler/ops/expand/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Expand, RepeatsAxesOfSizeOne) {
  OneNode node("Expand");
  node.input(f32({2, 1}, {1, 2})).constant(s64({2}, {2, 3}));
  EXPECT_EQ(node.run().at(0), f32({2, 3}, {1, 1, 1, 2, 2, 2}));
}

TEST(Expand, ShapeMayHoldOnesAndHaveFewerAxes) {
  OneNode node("Expand");
  node.input(counting({2, 1, 3})).constant(s64({2}, {1, 1}));
  EXPECT_EQ(node.run().at(0), counting({2, 1, 3}));
}

TEST(Expand, ShapeMustBroadcast) {
  OneNode node("Expand");
  node.input(counting({3})).constant(s64({1}, {2}));
  EXPECT_EQ(node.errors(), "E-SHAPE: must broadcast with [3], got [2]");
  OneNode negative("Expand");
  negative.input(counting({1})).constant(s64({1}, {-1}));
  EXPECT_EQ(negative.errors(), "E-SHAPE: must broadcast with [1], got [-1]");
}

TEST(Expand, ShapeMustBeKnownAtCompileTime) {
  OneNode node("Expand");
  node.input(counting({1})).input(s64({1}, {2}));
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: must be known at compile time");
}

TEST(Expand, OutputIsLimited) {
  OneNode node("Expand");
  node.input(counting({1})).constant(s64({2}, {std::int64_t{1} << 40, std::int64_t{1} << 40}));
  EXPECT_EQ(node.errors().substr(0, 7), "E-LIMIT");
}

}  // namespace
}  // namespace etch
