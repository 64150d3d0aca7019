// MaxPool: clipping, types, refusals. Shape rules: pool_geometry.
#include "compiler/ops/max_pool/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

TEST(MaxPool, PaddingNeverWins) {
  OneNode node("MaxPool");
  node.input(s8({1, 1, 2}, {-5, -7}))
      .attribute("kernel_shape", List{2})
      .attribute("pads", List{1, 1});
  EXPECT_EQ(node.run().at(0), s8({1, 1, 3}, {-5, -5, -7}));
}

TEST(MaxPool, DilationsSkipElements) {
  OneNode node("MaxPool");
  node.input(f32({1, 1, 5}, {9, 1, 2, 3, 0})).attribute("kernel_shape", List{2});
  node.attribute("dilations", List{2});
  EXPECT_EQ(node.run().at(0), f32({1, 1, 3}, {9, 3, 2}));
}

TEST(MaxPool, PoolsEachChannelOfEachImage) {
  OneNode node("MaxPool");
  node.input(u8({2, 2, 1, 2}, {1, 2, 4, 3, 5, 6, 8, 7})).attribute("kernel_shape", List{1, 2});
  EXPECT_EQ(node.run().at(0), u8({2, 2, 1, 1}, {2, 4, 6, 8}));
}

TEST(MaxPool, IntegersNeedOpset12) {
  OneNode node("MaxPool", "", 11);
  node.input(u8({1, 1, 2}, {1, 2})).attribute("kernel_shape", List{2});
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got uint8");
}

TEST(MaxPool, DilationsAndCeilModeNeedOpset10) {
  OneNode node("MaxPool", "", 9);
  node.input(counting({1, 1, 4}))
      .attribute("kernel_shape", List{2})
      .attribute("dilations", List{1});
  EXPECT_EQ(node.errors(), "E-ATTR: is not an attribute of this operator");
}

TEST(MaxPool, IndicesAreRefused) {
  OneNode node("MaxPool");
  node.input(counting({1, 1, 4})).attribute("kernel_shape", List{2}).outputs(2);
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: the output Indices is not supported");
}

}  // namespace
}  // namespace etch
