// Shape rules of pooling, by way of MaxPool.
#include "compiler/ops/pool_geometry/geometry.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ops/max_pool/op.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

OneNode pool(const Shape& x, const List& kernel) {
  OneNode node("MaxPool");
  node.input(Tensor(DType::kF32, x)).attribute("kernel_shape", kernel);
  return node;
}

ConvAxis axis_of(OneNode& node) {
  EXPECT_EQ(node.errors(), "");
  return params_of<MaxPool>(node.node()).geometry.axes.at(0);
}

TEST(PoolGeometry, RoundsDownByDefault) {
  OneNode node = pool({1, 1, 6}, {3});
  node.attribute("strides", List{2});
  EXPECT_EQ(axis_of(node).out, 2);
}

TEST(PoolGeometry, CeilModeRoundsUp) {
  OneNode node = pool({1, 1, 6}, {3});
  node.attribute("strides", List{2}).attribute("ceil_mode", std::int64_t{1});
  EXPECT_EQ(axis_of(node).out, 3);
}

TEST(PoolGeometry, NoWindowStartsBehindTheImage) {
  // Windows at -1, 2, 5; a fourth at 8 would hold padding only.
  OneNode node = pool({1, 1, 6}, {2});
  node.attribute("strides", List{3}).attribute("pads", List{1, 1});
  node.attribute("ceil_mode", std::int64_t{1});
  EXPECT_EQ(axis_of(node).out, 3);
  // Windows at 0 and 2; a third at 4 would start just after the last position.
  OneNode behind = pool({1, 1, 4}, {2});
  behind.attribute("strides", List{2}).attribute("pads", List{0, 1});
  behind.attribute("ceil_mode", std::int64_t{1});
  EXPECT_EQ(axis_of(behind).out, 2);
}

TEST(PoolGeometry, SameUpperPutsOddPaddingAtTheEnd) {
  OneNode upper = pool({1, 1, 4}, {2});
  upper.attribute("auto_pad", std::string("SAME_UPPER"));
  EXPECT_EQ(axis_of(upper).pad_begin, 0);
  OneNode lower = pool({1, 1, 4}, {2});
  lower.attribute("auto_pad", std::string("SAME_LOWER"));
  EXPECT_EQ(axis_of(lower).pad_begin, 1);
}

TEST(PoolGeometry, SameNeverCrops) {
  OneNode node = pool({1, 1, 8}, {1});
  node.attribute("auto_pad", std::string("SAME_UPPER")).attribute("strides", List{4});
  const ConvAxis axis = axis_of(node);
  EXPECT_EQ(axis.out, 2);
  EXPECT_EQ(axis.pad_begin, 0);
  EXPECT_EQ(axis.pad_end, 0);
}

TEST(PoolGeometry, KernelShapeIsRequired) {
  OneNode node("MaxPool");
  node.input(counting({1, 1, 4}));
  EXPECT_EQ(node.errors(), "E-ATTR: is missing");
}

TEST(PoolGeometry, ListsMustHaveOneEntryPerAxis) {
  EXPECT_EQ(pool({1, 1, 4}, {2, 2}).errors(), "E-ATTR: must have 1 entries, got 2");
  OneNode pads = pool({1, 1, 4}, {2});
  pads.attribute("pads", List{1});
  EXPECT_EQ(pads.errors(), "E-ATTR: must have 2 entries, got 1");
}

TEST(PoolGeometry, EntriesMustBeInRange) {
  EXPECT_EQ(pool({1, 1, 4}, {0}).errors(), "E-ATTR: must be in [1, 268435456], got 0");
  OneNode stride = pool({1, 1, 4}, {2});
  stride.attribute("strides", List{0});
  EXPECT_EQ(stride.errors(), "E-ATTR: must be in [1, 268435456], got 0");
  OneNode pads = pool({1, 1, 4}, {2});
  pads.attribute("pads", List{-1, 0});
  EXPECT_EQ(pads.errors(), "E-ATTR: must be in [0, 268435456], got -1");
}

TEST(PoolGeometry, WindowsAreNotMostlyPadding) {
  OneNode widest = pool({1, 1, 2}, {64});
  widest.attribute("auto_pad", std::string("SAME_UPPER"));
  EXPECT_EQ(axis_of(widest).out, 2);
  OneNode wider = pool({1, 1, 2}, {65});
  wider.attribute("auto_pad", std::string("SAME_UPPER"));
  EXPECT_EQ(wider.errors(),
            "E-LIMIT: the window has 65 positions on spatial axis 0 of [1, 1, 2], at most 64");
}

TEST(PoolGeometry, PadsMustBeSmallerThanTheKernel) {
  OneNode node = pool({1, 1, 4}, {2});
  node.attribute("pads", List{0, 2});
  EXPECT_EQ(node.errors(), "E-ATTR: must be smaller than the kernel's 2, got 2");
}

TEST(PoolGeometry, PadsExcludeAutoPad) {
  OneNode same = pool({1, 1, 4}, {2});
  same.attribute("pads", List{0, 0}).attribute("auto_pad", std::string("SAME_UPPER"));
  EXPECT_EQ(same.errors(), "E-ATTR: must not be given beside auto_pad");
  OneNode valid = pool({1, 1, 4}, {2});
  valid.attribute("pads", List{0, 0}).attribute("auto_pad", std::string("VALID"));
  EXPECT_EQ(valid.errors(), "");
  EXPECT_NE(valid.warnings(), "");
}

TEST(PoolGeometry, AutoPadMustBeKnown) {
  OneNode node = pool({1, 1, 4}, {2});
  node.attribute("auto_pad", std::string("SAME"));
  EXPECT_EQ(node.errors(), "E-ATTR: must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, got 'SAME'");
}

TEST(PoolGeometry, WindowMustFit) {
  EXPECT_EQ(pool({1, 1, 2}, {3}).errors(),
            "E-SHAPE: the window does not fit spatial axis 0 of [1, 1, 2]");
}

TEST(PoolGeometry, OneToThreeSpatialAxes) {
  EXPECT_EQ(pool({1, 1}, {}).errors(),
            "E-SHAPE: x must have 1 to 3 spatial dimensions, got [1, 1]");
  EXPECT_EQ(pool({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1}).errors(),
            "E-UNSUPPORTED: x must have 1 to 3 spatial dimensions, got [1, 1, 1, 1, 1, 1]");
}

}  // namespace
}  // namespace etch
