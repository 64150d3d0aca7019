// LayerNormalization: the formula and the refusals.
#include "compiler/ops/layer_normalization/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode layer(Tensor x) {
  OneNode node("LayerNormalization", "", 17);
  node.input(std::move(x)).constant(f32({2}, {1, 2})).attribute("epsilon", 0.0F);
  return node;
}

TEST(LayerNormalization, NormalizesTheLastAxis) {
  EXPECT_EQ(layer(f32({2, 2}, {1, 3, -8, 8})).run().at(0), f32({2, 2}, {-1, 2, -1, 2}));
}

TEST(LayerNormalization, AddsOneBiasPerElement) {
  OneNode node = layer(f32({1, 2}, {1, 3}));
  EXPECT_EQ(node.constant(f32({2}, {10, 20})).run().at(0), f32({1, 2}, {9, 22}));
}

TEST(LayerNormalization, MayNormalizeSeveralAxes) {
  OneNode node("LayerNormalization", "", 17);
  node.input(f32({1, 2, 2}, {-1, 1, 1, -1})).constant(f32({2, 2}, {1, 1, 1, 3}));
  node.attribute("axis", std::int64_t{1}).attribute("epsilon", 0.0F);
  EXPECT_EQ(node.run().at(0), f32({1, 2, 2}, {-1, 1, 1, -3}));
}

TEST(LayerNormalization, ScaleHasTheShapeOfTheAxes) {
  OneNode node("LayerNormalization", "", 17);
  node.input(f32({1, 2}, {1, 3})).constant(f32({3}, {1, 1, 1}));
  EXPECT_EQ(node.errors(),
            "E-SHAPE: must be [2] like the normalized axes, or broadcast to [1, 2], got [3]");
}

TEST(LayerNormalization, MeansAreNoOutput) {
  OneNode node = layer(f32({1, 2}, {1, 3}));
  EXPECT_EQ(node.outputs(2).errors(), "E-UNSUPPORTED: outputs besides Y cannot be compiled");
}

TEST(LayerNormalization, OtherPrecisionsAreRefused) {
  OneNode node = layer(f32({1, 2}, {1, 3}));
  EXPECT_EQ(node.attribute("stash_type", std::int64_t{10}).errors(),
            "E-ATTR: only 1, float32, is supported");
}

}  // namespace
}  // namespace etch
