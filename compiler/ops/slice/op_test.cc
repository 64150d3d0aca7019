// Slice: clamping, negative steps, huge bounds, both forms of arguments.
#include "compiler/ops/slice/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

Tensor slice(const Tensor& data, std::int64_t start, std::int64_t end, std::int64_t step) {
  OneNode node("Slice");
  node.input(data).constant(s64({1}, {start})).constant(s64({1}, {end})).constant(s64({1}, {0}));
  node.constant(s64({1}, {step}));
  return node.run().at(0);
}

constexpr std::int64_t kMost = INT64_MAX;
constexpr std::int64_t kLeast = INT64_MIN;

TEST(Slice, CountsFromEitherEnd) {
  EXPECT_EQ(slice(counting({5}), 1, 4, 2), f32({2}, {1, 3}));
  EXPECT_EQ(slice(counting({5}), -3, -1, 1), f32({2}, {2, 3}));
}

TEST(Slice, BoundsAreClamped) {
  EXPECT_EQ(slice(counting({3}), -100, 100, 1), f32({3}, {0, 1, 2}));
  EXPECT_EQ(slice(counting({3}), 5, 9, 1), f32({0}, {}));
  EXPECT_EQ(slice(counting({3}), 2, 1, 1), f32({0}, {}));
}

TEST(Slice, NegativeStepsRunBackwards) {
  EXPECT_EQ(slice(counting({4}), 3, 0, -2), f32({2}, {3, 1}));
  EXPECT_EQ(slice(counting({4}), -1, kLeast, -1), f32({4}, {3, 2, 1, 0}));
  EXPECT_EQ(slice(counting({4}), 100, -100, -3), f32({2}, {3, 0}));
}

TEST(Slice, ExtremeBoundsAndStepsDoNotOverflow) {
  EXPECT_EQ(slice(counting({3}), 1, kMost, kMost), f32({1}, {1}));
  EXPECT_EQ(slice(counting({3}), kMost, kLeast, kLeast), f32({1}, {2}));
  EXPECT_EQ(slice(counting({3}), kLeast, kMost, 1), f32({3}, {0, 1, 2}));
  EXPECT_EQ(slice(counting({0}), -1, kLeast, -1), f32({0}, {}));
}

TEST(Slice, ArgumentsAreAttributesBeforeOpset10) {
  OneNode node("Slice", "", 9);
  node.input(counting({2, 3})).attribute("starts", List{1}).attribute("ends", List{3});
  node.attribute("axes", List{1});
  EXPECT_EQ(node.run().at(0), f32({2, 2}, {1, 2, 4, 5}));
}

TEST(Slice, AxesDefaultToTheFirstOnes) {
  OneNode node("Slice");
  node.input(counting({2, 3})).constant(s64({2}, {1, 0})).constant(s64({2}, {2, 2}));
  EXPECT_EQ(node.run().at(0), f32({1, 2}, {3, 4}));
}

TEST(Slice, StepZeroIsRefused) {
  OneNode node("Slice");
  node.input(counting({3})).constant(s64({1}, {0})).constant(s64({1}, {1}));
  node.omitted().constant(s64({1}, {0}));
  EXPECT_EQ(node.errors(), "E-ATTR: steps: must not be 0");
}

TEST(Slice, ListsMustHaveOneLength) {
  OneNode node("Slice");
  node.input(counting({3})).constant(s64({1}, {0})).constant(s64({2}, {1, 1}));
  EXPECT_EQ(node.errors(), "E-SHAPE: starts, ends, axes and steps must have one length");
}

TEST(Slice, MoreStartsThanAxesAreRefused) {
  OneNode node("Slice");
  node.input(counting({3})).constant(s64({2}, {0, 0})).constant(s64({2}, {1, 1}));
  EXPECT_EQ(node.errors(), "E-ATTR: axes: each must be in [-1, 0], got 1");
}

TEST(Slice, StartsAndEndsAreRequired) {
  OneNode node("Slice", "", 9);
  node.input(counting({3})).attribute("starts", List{1});
  EXPECT_EQ(node.errors(), "E-ATTR: starts or ends is missing");
}

TEST(Slice, ArgumentsMustBeKnownAtCompileTime) {
  OneNode node("Slice");
  node.input(counting({3})).input(s64({1}, {0})).constant(s64({1}, {1}));
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: must be known at compile time");
}

}  // namespace
}  // namespace etch
