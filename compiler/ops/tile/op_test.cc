// Tile: along every axis, and what it refuses.
#include "compiler/ops/tile/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Tile, RepeatsAlongEveryAxis) {
  OneNode node("Tile");
  node.input(counting({2, 2})).constant(s64({2}, {2, 2}));
  EXPECT_EQ(node.run().at(0), f32({4, 4}, {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(Tile, NeedsOneRepeatPerAxisNotBelowZero) {
  OneNode few("Tile");
  few.input(counting({2, 2})).constant(s64({1}, {2}));
  EXPECT_EQ(few.errors(), "E-SHAPE: must have 2 elements, got 1");
  OneNode negative("Tile");
  negative.input(counting({2})).constant(s64({1}, {-1}));
  EXPECT_EQ(negative.errors(), "E-SHAPE: must be >= 0 and not huge, got -1");
  OneNode late("Tile");
  late.input(counting({2})).input(s64({1}, {2}));
  EXPECT_EQ(late.errors(), "E-UNSUPPORTED: must be known at compile time");
}

}  // namespace
}  // namespace etch
