// TopK: order, ties, NaN, axes, forms of the operator sets, refusals.
#include "compiler/ops/top_k/op.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(TopK, GivesTheLargestWithTheirPositions) {
  OneNode node("TopK");
  node.input(f32({2, 4}, {0, 3, 2, 1, 7, 4, 6, 5})).constant(s64({1}, {3})).outputs(2);
  const auto outputs = node.run();
  EXPECT_EQ(outputs.at(0), f32({2, 3}, {3, 2, 1, 7, 6, 5}));
  EXPECT_EQ(outputs.at(1), s64({2, 3}, {1, 2, 3, 0, 2, 3}));
}

TEST(TopK, GivesTheSmallestOnRequest) {
  OneNode node("TopK");
  node.input(s8({2, 2}, {-128, 3, 127, -4})).constant(s64({1}, {1})).outputs(2);
  node.attribute("axis", std::int64_t{0}).attribute("largest", std::int64_t{0});
  const auto outputs = node.run();
  EXPECT_EQ(outputs.at(0), s8({1, 2}, {-128, -4}));
  EXPECT_EQ(outputs.at(1), s64({1, 2}, {0, 1}));
}

TEST(TopK, TheLowerPositionGoesFirstAmongEquals) {
  OneNode node("TopK");
  node.input(f32({5}, {1, 0.0F, 2, -0.0F, 2})).constant(s64({1}, {5})).outputs(2);
  EXPECT_EQ(node.run().at(1), s64({5}, {2, 4, 0, 1, 3}));
}

TEST(TopK, NanComesBehindAllNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t largest : {0, 1}) {
    OneNode node("TopK");
    node.input(f32({4}, {nan, 1, nan, 2})).constant(s64({1}, {4})).outputs(2);
    node.attribute("largest", largest);
    EXPECT_EQ(node.run().at(1), largest != 0 ? s64({4}, {3, 1, 0, 2}) : s64({4}, {1, 3, 0, 2}));
  }
}

TEST(TopK, UnsortedResultsAreSortedAllTheSame) {
  OneNode node("TopK");
  node.input(u8({4}, {9, 0, 255, 7})).constant(s64({1}, {2})).outputs(2);
  node.attribute("sorted", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), u8({2}, {255, 9}));
}

TEST(TopK, KIsAnAttributeBeforeOperatorSet10) {
  OneNode node("TopK", "", 9);
  node.input(counting({3})).attribute("k", std::int64_t{2}).outputs(2);
  EXPECT_EQ(node.run().at(1), s64({2}, {2, 1}));
  OneNode none("TopK", "", 9);
  none.input(counting({3})).outputs(2);
  EXPECT_EQ(none.errors(), "E-ATTR: is missing");
}

TEST(TopK, KMayBeZero) {
  OneNode node("TopK");
  node.input(counting({2, 3})).constant(s64({1}, {0})).outputs(2);
  EXPECT_EQ(node.run().at(0), f32({2, 0}, {}));
}

TEST(TopK, KMustBeKnownAndFitTheAxis) {
  OneNode late("TopK");
  late.input(counting({3})).input(s64({1}, {2})).outputs(2);
  EXPECT_EQ(late.errors(), "E-UNSUPPORTED: must be known at compile time");
  OneNode large("TopK");
  large.input(counting({3})).constant(s64({1}, {4})).outputs(2);
  EXPECT_EQ(large.errors(), "E-SHAPE: k must be in [0, 3], got 4");
  OneNode many("TopK");
  many.input(counting({3})).constant(s64({2}, {1, 2})).outputs(2);
  EXPECT_EQ(many.errors(), "E-SHAPE: must have one element, got 2");
  OneNode missing("TopK");
  missing.input(counting({3})).outputs(2);
  EXPECT_EQ(missing.errors(), "E-GRAPH: input 1 (k) is missing");
}

TEST(TopK, OtherTypesAreRefused) {
  OneNode node("TopK");
  node.input(Tensor(DType::kF16, {2})).constant(s64({1}, {1})).outputs(2);
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, int32, int64, uint8, int8, got float16");
}

}  // namespace
}  // namespace etch
