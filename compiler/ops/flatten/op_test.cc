// Flatten: where the cut may be.
#include "compiler/ops/flatten/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Shape flattened(std::int64_t axis, std::int64_t opset) {
  OneNode node("Flatten", "", opset);
  node.input(counting({2, 3, 4})).attribute("axis", axis);
  return node.run().at(0).shape();
}

TEST(Flatten, CutsAtTheAxis) {
  EXPECT_EQ(flattened(0, 9), (Shape{1, 24}));
  EXPECT_EQ(flattened(2, 9), (Shape{6, 4}));
  EXPECT_EQ(flattened(3, 9), (Shape{24, 1}));
  EXPECT_EQ(flattened(-1, 11), (Shape{6, 4}));
}

TEST(Flatten, AxisDefaultsToOne) {
  OneNode node("Flatten");
  node.input(counting({2, 3, 4}));
  EXPECT_EQ(node.run().at(0), counting({2, 12}));
}

TEST(Flatten, AxisOutsideIsRefused) {
  OneNode node("Flatten");
  node.input(counting({2, 3})).attribute("axis", std::int64_t{3});
  EXPECT_EQ(node.errors(), "E-ATTR: must be in [-2, 2], got 3");
}

TEST(Flatten, NegativeAxisIsRefusedBeforeOpset11) {
  OneNode node("Flatten", "", 9);
  node.input(counting({2, 3})).attribute("axis", std::int64_t{-1});
  EXPECT_EQ(node.errors(), "E-ATTR: must be in [0, 2], got -1");
}

}  // namespace
}  // namespace etch
