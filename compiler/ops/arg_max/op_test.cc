// ArgMax and ArgMin: positions, ties, axes, refusals.
#include "compiler/ops/arg_max/op.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(ArgMax, TakesTheFirstOfEqualElements) {
  OneNode node("ArgMax");
  node.input(f32({2, 3}, {1, 5, 5, 7, 0, 7})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), s64({2, 1}, {1, 0}));
}

TEST(ArgMax, MayTakeTheLast) {
  OneNode node("ArgMax");
  node.input(f32({2, 3}, {1, 5, 5, 7, 0, 7})).attribute("axis", std::int64_t{-1});
  node.attribute("select_last_index", std::int64_t{1}).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), s64({2}, {2, 2}));
}

TEST(ArgMax, ReducesTheFirstAxisByDefault) {
  OneNode node("ArgMax");
  node.input(s8({2, 2}, {-128, 3, 127, -4}));
  EXPECT_EQ(node.run().at(0), s64({1, 2}, {1, 0}));
}

TEST(ArgMin, TakesTheSmallest) {
  OneNode node("ArgMin");
  node.input(u8({3}, {9, 0, 255}));
  EXPECT_EQ(node.run().at(0), s64({1}, {1}));
}

TEST(ArgMax, NothingIsLargerThanNan) {
  OneNode node("ArgMax");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  node.input(f32({2, 2}, {nan, 1, 2, nan})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), s64({2, 1}, {0, 0}));
}

TEST(ArgMax, TheAxisMustExistAndHaveElements) {
  OneNode node("ArgMax");
  node.input(f32({2}, {1, 2})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.errors(), "E-ATTR: must be in [-1, 0], got 1");
  OneNode empty("ArgMax");
  empty.input(counting({0, 2}));
  EXPECT_EQ(empty.errors(), "E-SHAPE: axis 0 has no elements");
}

TEST(ArgMax, OtherTypesAreRefused) {
  OneNode node("ArgMax");
  node.input(Tensor(DType::kF16, {2}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, int32, int64, uint8, int8, got float16");
}

}  // namespace
}  // namespace etch
