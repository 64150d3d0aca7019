// DepthToSpace and SpaceToDepth: the examples of the specification, and what they refuse.
#include "compiler/ops/depth_to_space/op.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// [1, 8, 2, 3]: channel k holds 9 k, 9 k + 1, ...
Tensor eight_channels() {
  std::vector<float> values;
  for (int channel = 0; channel < 8; ++channel) {
    for (int i = 0; i < 6; ++i) values.push_back(static_cast<float>(9 * channel + i));
  }
  return f32({1, 8, 2, 3}, values);
}

OneNode node_of(const std::string& op, Tensor x, std::int64_t block) {
  OneNode node(op);
  node.input(std::move(x)).attribute("blocksize", block);
  return node;
}

TEST(DepthToSpace, TakesDepthFirst) {
  EXPECT_EQ(node_of("DepthToSpace", eight_channels(), 2).run().at(0),
            f32({1, 2, 4, 6}, {0,  18, 1,  19, 2,  20, 36, 54, 37, 55, 38, 56, 3,  21, 4,  22,
                               5,  23, 39, 57, 40, 58, 41, 59, 9,  27, 10, 28, 11, 29, 45, 63,
                               46, 64, 47, 65, 12, 30, 13, 31, 14, 32, 48, 66, 49, 67, 50, 68}));
}

TEST(DepthToSpace, TakesColumnsFirst) {
  OneNode node = node_of("DepthToSpace", eight_channels(), 2);
  node.attribute("mode", std::string("CRD"));
  EXPECT_EQ(node.run().at(0),
            f32({1, 2, 4, 6}, {0,  9,  1,  10, 2,  11, 18, 27, 19, 28, 20, 29, 3,  12, 4,  13,
                               5,  14, 21, 30, 22, 31, 23, 32, 36, 45, 37, 46, 38, 47, 54, 63,
                               55, 64, 56, 65, 39, 48, 40, 49, 41, 50, 57, 66, 58, 67, 59, 68}));
}

TEST(SpaceToDepth, IsTheInverse) {
  const Tensor wide = node_of("DepthToSpace", eight_channels(), 2).run().at(0);
  EXPECT_EQ(node_of("SpaceToDepth", wide, 2).run().at(0), eight_channels());
}

TEST(DepthToSpace, RefusesWhatHasNoBlocks) {
  EXPECT_EQ(node_of("DepthToSpace", eight_channels(), 3).errors(),
            "E-SHAPE: [1, 8, 2, 3] does not consist of blocks of 3");
  EXPECT_EQ(node_of("SpaceToDepth", eight_channels(), 2).errors(),
            "E-SHAPE: [1, 8, 2, 3] does not consist of blocks of 2");
  EXPECT_EQ(node_of("SpaceToDepth", counting({4, 4}), 2).errors(),
            "E-SHAPE: must have rank 4, got [4, 4]");
  EXPECT_EQ(node_of("SpaceToDepth", eight_channels(), 0).errors(), "E-ATTR: must be > 0, got 0");
  OneNode mode = node_of("DepthToSpace", eight_channels(), 2);
  mode.attribute("mode", std::string("RCD"));
  EXPECT_EQ(mode.errors(), "E-ATTR: must be DCR or CRD, got 'RCD'");
}

}  // namespace
}  // namespace etch
