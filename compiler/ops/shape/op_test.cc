// Shape: whole and in part.
#include "compiler/ops/shape/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

Tensor shape_part(std::int64_t start, std::int64_t end) {
  OneNode node("Shape", "", 15);
  node.input(counting({2, 3, 4})).attribute("start", start).attribute("end", end);
  return node.run().at(0);
}

TEST(Shape, ListsTheSizes) {
  OneNode node("Shape");
  node.input(counting({2, 3, 4}));
  EXPECT_EQ(node.run().at(0), s64({3}, {2, 3, 4}));
}

TEST(Shape, PartIsClamped) {
  EXPECT_EQ(shape_part(1, 3), s64({2}, {3, 4}));
  EXPECT_EQ(shape_part(-2, 100), s64({2}, {3, 4}));
  EXPECT_EQ(shape_part(-100, -1), s64({2}, {2, 3}));
  EXPECT_EQ(shape_part(2, 1), s64({0}, {}));
}

TEST(Shape, PartsAreUnknownBeforeOpset15) {
  OneNode node("Shape");
  node.input(counting({2})).attribute("start", std::int64_t{0});
  EXPECT_EQ(node.errors(), "E-ATTR: is not an attribute of this operator");
}

}  // namespace
}  // namespace etch
