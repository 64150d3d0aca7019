// PRelu: values, broadcasting, refusals.
#include "compiler/ops/prelu/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(PRelu, ScalesOnlyWhatIsNegative) {
  OneNode node("PRelu");
  node.input(f32({5}, {-2, -0.5F, 0, 1, 3})).input(f32({1}, {0.25F}));
  EXPECT_EQ(node.run().at(0), f32({5}, {-0.5F, -0.125F, 0, 1, 3}));
}

TEST(PRelu, HasOneSlopePerChannel) {
  OneNode node("PRelu");
  node.input(f32({1, 2, 2}, {-1, 1, -1, -2})).constant(f32({2, 1}, {10, 100}));
  EXPECT_EQ(node.run().at(0), f32({1, 2, 2}, {-10, 1, -100, -200}));
}

TEST(PRelu, KeepsNan) {
  OneNode node("PRelu");
  node.input(f32({1}, {std::numeric_limits<float>::quiet_NaN()})).input(f32({}, {2}));
  EXPECT_TRUE(std::isnan(node.run().at(0).real(0)));
}

TEST(PRelu, TheSlopeMustBroadcastToX) {
  OneNode node("PRelu");
  node.input(f32({1, 2}, {1, 2})).input(f32({3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(node.errors(), "E-SHAPE: slope [3, 2] does not broadcast to X, which is [1, 2]");
}

TEST(PRelu, TypesOtherThanFloatAreRefused) {
  OneNode node("PRelu");
  node.input(f32({1}, {1})).input(u8({1}, {1}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got uint8");
}

}  // namespace
}  // namespace etch
