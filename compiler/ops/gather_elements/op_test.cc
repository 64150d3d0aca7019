// GatherElements: the examples of the specification, and what it refuses.
#include "compiler/ops/gather_elements/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(GatherElements, PicksAlongTheAxis) {
  OneNode rows("GatherElements");
  rows.input(f32({2, 2}, {1, 2, 3, 4})).input(s64({2, 2}, {0, 0, 1, 0}));
  rows.attribute("axis", std::int64_t{1});
  EXPECT_EQ(rows.run().at(0), f32({2, 2}, {1, 1, 4, 3}));
  OneNode columns("GatherElements");
  columns.input(f32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})).input(s32({2, 3}, {-1, -2, 0, -2, 0, 0}));
  EXPECT_EQ(columns.run().at(0), f32({2, 3}, {7, 5, 3, 4, 2, 3}));
}

TEST(GatherElements, LimitsIndicesKnownAtRunTime) {
  OneNode node("GatherElements");
  node.input(u8({3}, {1, 2, 3})).input(s64({2}, {9, -9}));
  EXPECT_EQ(node.run().at(0), u8({2}, {3, 1}));
}

TEST(GatherElements, RefusesIndicesThatDoNotFit) {
  OneNode range("GatherElements");
  range.input(counting({2})).constant(s64({1}, {2}));
  EXPECT_EQ(range.errors(), "E-SHAPE: must be in [-2, 1], got 2");
  OneNode shape("GatherElements");
  shape.input(counting({2, 2})).input(s64({1, 3}, {0, 0, 0}));
  EXPECT_EQ(shape.errors(), "E-SHAPE: indices of shape [1, 3] do not fit data of shape [2, 2]");
  OneNode type("GatherElements");
  type.input(counting({2})).input(counting({2}));
  EXPECT_EQ(type.errors(), "E-TYPE: must be int32, int64, got float32");
}

}  // namespace
}  // namespace etch
