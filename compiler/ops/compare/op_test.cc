// Comparisons and logic: their truth tables, broadcasting, and what they refuse.
#include "compiler/ops/compare/op.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor bools(Shape shape, const std::vector<std::uint8_t>& values) {
  Tensor out(DType::kBool, std::move(shape));
  std::copy(values.begin(), values.end(), out.as<std::uint8_t>().begin());
  return out;
}

Tensor result(const std::string& op, Tensor a, Tensor b) {
  OneNode node(op);
  node.input(std::move(a)).input(std::move(b));
  return node.run().at(0);
}

TEST(Compare, OrdersNumbers) {
  const Tensor a = s64({3}, {1, 2, 3});
  const Tensor two = s64({}, {2});
  EXPECT_EQ(result("Equal", a, two), bools({3}, {0, 1, 0}));
  EXPECT_EQ(result("Less", a, two), bools({3}, {1, 0, 0}));
  EXPECT_EQ(result("LessOrEqual", a, two), bools({3}, {1, 1, 0}));
  EXPECT_EQ(result("Greater", a, two), bools({3}, {0, 0, 1}));
  EXPECT_EQ(result("GreaterOrEqual", a, two), bools({3}, {0, 1, 1}));
}

TEST(Compare, FindsNothingTrueOfNan) {
  const Tensor nan = f32({1}, {std::numeric_limits<float>::quiet_NaN()});
  for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
    EXPECT_EQ(result(op, nan, nan), bools({1}, {0})) << op;
}

TEST(Compare, Broadcasts) {
  EXPECT_EQ(result("Greater", f32({2, 1}, {1, 2}), f32({2}, {0, 1})), bools({2, 2}, {1, 0, 1, 1}));
}

TEST(Compare, KnowsLogic) {
  const Tensor a = bools({4}, {0, 0, 1, 1});
  const Tensor b = bools({4}, {0, 1, 0, 1});
  EXPECT_EQ(result("And", a, b), bools({4}, {0, 0, 0, 1}));
  EXPECT_EQ(result("Or", a, b), bools({4}, {0, 1, 1, 1}));
  EXPECT_EQ(result("Xor", a, b), bools({4}, {0, 1, 1, 0}));
  OneNode node("Not");
  node.input(a);
  EXPECT_EQ(node.run().at(0), bools({4}, {1, 1, 0, 0}));
}

TEST(Compare, RefusesWhatCannotBePaired) {
  OneNode types("Equal");
  types.input(f32({1}, {0})).input(s64({1}, {0}));
  EXPECT_EQ(types.errors(), "E-TYPE: inputs must have one element type, got float32 and int64");
  OneNode shapes("Less");
  shapes.input(counting({2})).input(counting({3}));
  EXPECT_EQ(shapes.errors(), "E-SHAPE: shapes [2] and [3] do not broadcast");
  OneNode logic("And");
  logic.input(counting({2})).input(counting({2}));
  EXPECT_EQ(logic.errors(), "E-TYPE: must be bool, got float32");
  OneNode count("Equal");
  count.input(counting({2}));
  EXPECT_EQ(count.errors(), "E-GRAPH: must have 2 inputs");
}

}  // namespace
}  // namespace etch
