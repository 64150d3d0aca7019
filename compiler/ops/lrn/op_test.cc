// LRN: windows, the formula, refusals.
#include "compiler/ops/lrn/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode lrn(std::int64_t size, float beta) {
  OneNode node("LRN");
  node.input(f32({1, 4, 1}, {1, 2, 3, 4})).attribute("size", size).attribute("beta", beta);
  node.attribute("alpha", static_cast<float>(size)).attribute("bias", 0.0F);
  return node;
}

TEST(Lrn, DividesByTheSquaresOfTheNeighbours) {
  EXPECT_EQ(lrn(3, 1.0F).run().at(0), f32({1, 4, 1}, {1.0F / 5, 2.0F / 14, 3.0F / 29, 4.0F / 25}));
}

TEST(Lrn, AnEvenWindowReachesFartherUp) {
  EXPECT_EQ(lrn(2, 1.0F).run().at(0), f32({1, 4, 1}, {1.0F / 5, 2.0F / 13, 3.0F / 25, 4.0F / 16}));
}

TEST(Lrn, TheUsualPowerIsThreeQuarters) {
  OneNode node("LRN");
  node.input(f32({1, 1, 1}, {4})).attribute("size", std::int64_t{1});
  node.attribute("alpha", 1.0F).attribute("bias", 0.0F);  // 16^0.75 = 8
  EXPECT_EQ(node.run().at(0), f32({1, 1, 1}, {0.5F}));
}

TEST(Lrn, TheSizeIsRequired) {
  OneNode node("LRN");
  EXPECT_EQ(node.input(f32({1, 1, 1}, {4})).errors(), "E-ATTR: is required in [1, 1048576], got 0");
}

TEST(Lrn, NeedsChannelsAndFloats) {
  OneNode flat("LRN");
  flat.input(f32({1, 1}, {4})).attribute("size", std::int64_t{1});
  EXPECT_EQ(flat.errors(), "E-SHAPE: X must be [N, C, ...], got [1, 1]");
  OneNode bytes("LRN");
  bytes.input(u8({1, 1, 1}, {4})).attribute("size", std::int64_t{1});
  EXPECT_EQ(bytes.errors(), "E-TYPE: must be float32, got uint8");
}

}  // namespace
}  // namespace etch
