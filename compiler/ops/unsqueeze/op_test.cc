// Unsqueeze: axes count in the output.
#include "compiler/ops/unsqueeze/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

TEST(Unsqueeze, AxesAreAnAttributeBeforeOpset13) {
  OneNode node("Unsqueeze", "", 11);
  node.input(counting({3, 2})).attribute("axes", List{0, 3});
  EXPECT_EQ(node.run().at(0), counting({1, 3, 2, 1}));
}

TEST(Unsqueeze, AxesCountInTheOutput) {
  OneNode node("Unsqueeze");
  node.input(counting({3, 2})).constant(s64({2}, {-1, 1}));
  EXPECT_EQ(node.run().at(0), counting({3, 1, 2, 1}));
}

TEST(Unsqueeze, AxesAreRequired) {
  OneNode node("Unsqueeze");
  node.input(counting({3}));
  EXPECT_EQ(node.errors(), "E-ATTR: axes is missing");
}

TEST(Unsqueeze, AxesMustExistAndDiffer) {
  OneNode outside("Unsqueeze");
  outside.input(counting({3})).constant(s64({1}, {2}));
  EXPECT_EQ(outside.errors(), "E-ATTR: axes: each must be in [-2, 1], got 2");
  OneNode doubled("Unsqueeze");
  doubled.input(counting({3})).constant(s64({2}, {0, 0}));
  EXPECT_EQ(doubled.errors(), "E-ATTR: axes: must differ from each other");
}

}  // namespace
}  // namespace etch
