// Where: choice with broadcasting, and what it refuses.
#include "compiler/ops/where/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor condition(Shape shape, std::vector<std::uint8_t> values) {
  Tensor out(DType::kBool, std::move(shape));
  std::copy(values.begin(), values.end(), out.as<std::uint8_t>().begin());
  return out;
}

TEST(Where, ChoosesElements) {
  OneNode node("Where");
  node.input(condition({2, 2}, {1, 0, 1, 1}));
  node.input(f32({2, 2}, {1, 2, 3, 4})).input(f32({2, 2}, {9, 8, 7, 6}));
  EXPECT_EQ(node.run().at(0), f32({2, 2}, {1, 8, 3, 4}));
}

TEST(Where, Broadcasts) {
  OneNode node("Where");
  node.input(condition({2, 1}, {1, 0})).input(s64({}, {5})).input(s64({3}, {1, 2, 3}));
  EXPECT_EQ(node.run().at(0), s64({2, 3}, {5, 5, 5, 1, 2, 3}));
}

TEST(Where, RefusesWhatDoesNotFit) {
  OneNode shapes("Where");
  shapes.input(condition({2}, {1, 0})).input(counting({3})).input(counting({1}));
  EXPECT_EQ(shapes.errors(), "E-SHAPE: shapes [2], [3] and [1] do not broadcast");
  OneNode types("Where");
  types.input(condition({1}, {1})).input(counting({1})).input(s64({1}, {0}));
  EXPECT_EQ(types.errors(), "E-TYPE: X and Y must have one element type, got float32 and int64");
  OneNode number("Where");
  number.input(counting({1})).input(counting({1})).input(counting({1}));
  EXPECT_EQ(number.errors(), "E-TYPE: must be bool, got float32");
}

}  // namespace
}  // namespace etch
