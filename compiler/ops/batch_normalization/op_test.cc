// BatchNormalization: the formula, shapes, refusals.
#include "compiler/ops/batch_normalization/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode normalized(Tensor x, std::int64_t opset = 15) {
  OneNode node("BatchNormalization", "", opset);
  node.input(std::move(x)).constant(f32({2}, {2, 3})).constant(f32({2}, {1, -1}));
  node.constant(f32({2}, {4, 0})).constant(f32({2}, {16, 4})).attribute("epsilon", 0.0F);
  return node;
}

TEST(BatchNormalization, BringsEachChannelToItsScale) {
  OneNode node = normalized(f32({1, 2, 2}, {4, 8, 0, 2}));
  EXPECT_EQ(node.run().at(0), f32({1, 2, 2}, {1, 3, -1, 2}));
}

TEST(BatchNormalization, AddsEpsilonToTheVariance) {
  OneNode node = normalized(f32({1, 2}, {4, 4}));
  node.attribute("epsilon", 12.0F);  // the second channel: 3 / sqrt(16)
  EXPECT_EQ(node.run().at(0).as<float>()[1], 2.0F);
}

TEST(BatchNormalization, RoundsProductAndSum) {
  OneNode node("BatchNormalization");
  node.input(f32({1}, {1 + 0x1p-12F})).constant(f32({1}, {1 + 0x1p-12F}));
  node.constant(f32({1}, {-1 - 0x1p-11F})).constant(f32({1}, {0})).constant(f32({1}, {1}));
  EXPECT_EQ(node.attribute("epsilon", 0.0F).run().at(0), f32({1}, {0}));
}

TEST(BatchNormalization, OutputsOfTrainingAreRefused) {
  OneNode more = normalized(f32({1, 2}, {1, 2}));
  EXPECT_EQ(more.outputs(3).errors(), "E-UNSUPPORTED: outputs besides Y belong to training");
}

TEST(BatchNormalization, StatisticsPerElementAreRefused) {
  OneNode node = normalized(f32({1, 2}, {1, 2}), 7);
  EXPECT_EQ(node.attribute("spatial", std::int64_t{0}).errors(),
            "E-ATTR: statistics per element are not supported, only 1 is");
}

TEST(BatchNormalization, EachChannelHasItsStatistics) {
  OneNode node = normalized(f32({1, 3}, {1, 2, 3}));
  EXPECT_NE(node.errors().find("E-SHAPE: must be [3], one per channel, got [2]"),
            std::string::npos);
}

}  // namespace
}  // namespace etch
