// AveragePool: what counts.
#include "compiler/ops/average_pool/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

OneNode corner() {
  OneNode node("AveragePool");
  node.input(f32({1, 1, 2, 2}, {1, 2, 3, 6})).attribute("kernel_shape", List{2, 2});
  node.attribute("pads", List{1, 1, 0, 0}).attribute("strides", List{2, 2});
  return node;
}

TEST(AveragePool, CountsOnlyTheImageByDefault) {
  EXPECT_EQ(corner().run().at(0), f32({1, 1, 1, 1}, {1}));
}

TEST(AveragePool, MayCountThePadding) {
  OneNode node = corner();
  node.attribute("count_include_pad", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), f32({1, 1, 1, 1}, {0.25F}));
}

TEST(AveragePool, DoesNotCountWhatCeilModeAdds) {
  OneNode node("AveragePool");
  node.input(f32({1, 1, 3}, {2, 4, 8})).attribute("kernel_shape", List{2});
  node.attribute("strides", List{2}).attribute("ceil_mode", std::int64_t{1});
  node.attribute("count_include_pad", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), f32({1, 1, 2}, {3, 8}));
}

TEST(AveragePool, DilationsNeedOpset19) {
  OneNode node("AveragePool", "", 18);
  node.input(counting({1, 1, 4}))
      .attribute("kernel_shape", List{2})
      .attribute("dilations", List{1});
  EXPECT_EQ(node.errors(), "E-ATTR: is not an attribute of this operator");
  OneNode later("AveragePool", "", 19);
  later.input(counting({1, 1, 3}))
      .attribute("kernel_shape", List{2})
      .attribute("dilations", List{2});
  EXPECT_EQ(later.run().at(0), f32({1, 1, 1}, {1}));
}

TEST(AveragePool, TypesOtherThanFloatAreRefused) {
  OneNode node("AveragePool");
  node.input(u8({1, 1, 2}, {1, 2})).attribute("kernel_shape", List{2});
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got uint8");
}

}  // namespace
}  // namespace etch
