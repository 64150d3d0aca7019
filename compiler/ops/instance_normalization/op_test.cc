// InstanceNormalization: the formula and the refusals.
#include "compiler/ops/instance_normalization/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(InstanceNormalization, BringsEachPlaneToItsScale) {
  OneNode node("InstanceNormalization");
  node.input(f32({1, 2, 2}, {1, 3, -8, 8})).constant(f32({2}, {1, 2})).constant(f32({2}, {0, 5}));
  node.attribute("epsilon", 0.0F);
  EXPECT_EQ(node.run().at(0), f32({1, 2, 2}, {-1, 1, 3, 7}));
}

TEST(InstanceNormalization, AddsEpsilonToTheVariance) {
  OneNode node("InstanceNormalization");
  node.input(f32({1, 1, 2}, {-1, 1})).constant(f32({1}, {1})).constant(f32({1}, {0}));
  EXPECT_EQ(node.attribute("epsilon", 3.0F).run().at(0), f32({1, 1, 2}, {-0.5F, 0.5F}));
}

TEST(InstanceNormalization, NeedsPlanesAndOneScalePerChannel) {
  OneNode flat("InstanceNormalization");
  flat.input(f32({1, 2}, {1, 3})).constant(f32({2}, {1, 2})).constant(f32({2}, {0, 5}));
  EXPECT_EQ(flat.errors(),
            "E-SHAPE: x must be [N, C, ...] with elements in each plane, got [1, 2]");
  OneNode scale("InstanceNormalization");
  scale.input(f32({1, 1, 1}, {1})).constant(f32({2}, {1, 2})).constant(f32({1}, {0}));
  EXPECT_EQ(scale.errors(), "E-SHAPE: must be [1], one per channel, got [2]");
}

TEST(InstanceNormalization, TypesOtherThanFloatAreRefused) {
  OneNode node("InstanceNormalization");
  node.input(u8({1, 1, 1}, {1})).constant(f32({1}, {1})).constant(f32({1}, {0}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got uint8");
}

}  // namespace
}  // namespace etch
