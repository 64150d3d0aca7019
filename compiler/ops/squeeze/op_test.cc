// Squeeze: axes as attribute, as input, and absent.
#include "compiler/ops/squeeze/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

TEST(Squeeze, DropsAllAxesOfSizeOneByDefault) {
  OneNode node("Squeeze");
  node.input(counting({1, 3, 1, 2}));
  EXPECT_EQ(node.run().at(0), counting({3, 2}));
}

TEST(Squeeze, AxesAreAnAttributeBeforeOpset13) {
  OneNode node("Squeeze", "", 11);
  node.input(counting({1, 3, 1})).attribute("axes", List{-1});
  EXPECT_EQ(node.run().at(0), counting({1, 3}));
}

TEST(Squeeze, AxesAreAnInputFromOpset13On) {
  OneNode node("Squeeze");
  node.input(counting({1, 3, 1})).constant(s64({1}, {0}));
  EXPECT_EQ(node.run().at(0), counting({3, 1}));
}

TEST(Squeeze, TheFormOfTheOtherOpsetIsRefused) {
  OneNode input("Squeeze", "", 11);
  input.input(counting({1, 3})).constant(s64({1}, {0}));
  EXPECT_EQ(input.errors(), "E-GRAPH: is an attribute before operator set 13");
  OneNode attribute("Squeeze");
  attribute.input(counting({1, 3})).attribute("axes", List{0});
  EXPECT_EQ(attribute.errors(), "E-ATTR: is not an attribute of this operator");
}

TEST(Squeeze, OtherSizesCannotBeDropped) {
  OneNode node("Squeeze");
  node.input(counting({1, 3})).constant(s64({1}, {1}));
  EXPECT_EQ(node.errors(), "E-SHAPE: axis 1 must have size 1, got [1, 3]");
}

TEST(Squeeze, AxesMustExistAndDiffer) {
  OneNode outside("Squeeze");
  outside.input(counting({1, 3})).constant(s64({1}, {2}));
  EXPECT_EQ(outside.errors(), "E-ATTR: axes: each must be in [-2, 1], got 2");
  OneNode doubled("Squeeze");
  doubled.input(counting({1, 3})).constant(s64({2}, {0, -2}));
  EXPECT_EQ(doubled.errors(), "E-ATTR: axes: must differ from each other");
}

}  // namespace
}  // namespace etch
