// Clip: bounds as attributes and inputs.
#include "compiler/ops/clip/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Clip, BoundsAreAttributesBeforeOpset11) {
  OneNode node("Clip", "", 10);
  node.input(f32({3}, {-9, 0.5F, 9})).attribute("min", -1.0F).attribute("max", 6.0F);
  EXPECT_EQ(node.run().at(0), f32({3}, {-1, 0.5F, 6}));
}

TEST(Clip, BoundsAreInputsFromOpset11On) {
  OneNode node("Clip", "", 11);
  node.input(f32({2}, {-9, 9})).omitted().constant(f32({}, {6}));
  EXPECT_EQ(node.run().at(0), f32({2}, {-9, 6}));
}

TEST(Clip, WithoutALimitInfinitiesBecomeTheGreatestAndLowestFloat) {
  constexpr float kMost = std::numeric_limits<float>::max();
  OneNode low("Clip", "", 13);
  low.input(f32({3}, {-INFINITY, 1, INFINITY})).constant(f32({}, {0}));
  EXPECT_EQ(low.run().at(0), f32({3}, {0, 1, kMost}));
  OneNode none("Clip", "", 13);
  none.input(f32({2}, {-INFINITY, INFINITY}));
  EXPECT_EQ(none.run().at(0), f32({2}, {-kMost, kMost}));
}

TEST(Clip, TakesIntegersFromOpset12On) {
  OneNode node("Clip", "", 12);
  node.input(s8({3}, {-128, 0, 127})).constant(s8({}, {-5})).constant(s8({1}, {100}));
  EXPECT_EQ(node.run().at(0), s8({3}, {-5, 0, 100}));
  OneNode early("Clip", "", 11);
  early.input(s8({1}, {1}));
  EXPECT_EQ(early.errors(), "E-TYPE: must be float32, got int8");
}

TEST(Clip, UpperBoundWinsWhenTheyCross) {
  OneNode node("Clip");
  node.input(f32({2}, {-9, 9})).constant(f32({}, {2})).constant(f32({}, {-2}));
  EXPECT_EQ(node.run().at(0), f32({2}, {-2, -2}));
}

TEST(Clip, BoundsMustBeKnownScalarsOfTheInputsType) {
  OneNode unknown("Clip");
  unknown.input(counting({1})).input(f32({}, {0}));
  EXPECT_EQ(unknown.errors(), "E-UNSUPPORTED: must be known at compile time");
  OneNode list("Clip");
  list.input(counting({1})).constant(f32({2}, {0, 1}));
  EXPECT_EQ(list.errors(), "E-SHAPE: must have one element, got [2]");
  OneNode type("Clip");
  type.input(counting({1})).constant(s8({}, {0}));
  EXPECT_EQ(type.errors(), "E-TYPE: must be float32, got int8");
}

TEST(Clip, NotANumberIsNoBound) {
  OneNode node("Clip");
  node.input(counting({1})).constant(f32({}, {NAN}));
  EXPECT_EQ(node.errors(), "E-TENSOR: min and max must not be NaN");
}

TEST(Clip, InputsAreUnknownBeforeOpset11) {
  OneNode node("Clip", "", 10);
  node.input(counting({1})).constant(f32({}, {0}));
  EXPECT_EQ(node.errors(), "E-GRAPH: min and max are attributes before operator set 11");
}

}  // namespace
}  // namespace etch
