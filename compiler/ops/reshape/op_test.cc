// Reshape: sizes that mean something, and shapes that do not fit.
#include "compiler/ops/reshape/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

std::string errors_for(const Tensor& data, const List& shape) {
  OneNode node("Reshape");
  node.input(data).constant(s64({static_cast<std::int64_t>(shape.size())}, shape));
  return node.errors();
}

TEST(Reshape, MinusOneTakesWhatIsLeft) {
  OneNode node("Reshape");
  node.input(counting({2, 3, 4})).constant(s64({2}, {6, -1}));
  EXPECT_EQ(node.run().at(0), counting({6, 4}));
}

TEST(Reshape, ZeroCopiesTheSizeOfTheInput) {
  OneNode node("Reshape");
  node.input(counting({2, 3, 4})).constant(s64({3}, {0, 4, 3}));
  EXPECT_EQ(node.run().at(0), counting({2, 4, 3}));
}

TEST(Reshape, ZeroMeansZeroWithAllowzero) {
  OneNode node("Reshape", "", 14);
  node.attribute("allowzero", std::int64_t{1});
  node.input(counting({0, 3})).constant(s64({2}, {3, 0}));
  EXPECT_EQ(node.run().at(0), counting({3, 0}));
}

TEST(Reshape, EmptyShapeMakesAScalar) {
  OneNode node("Reshape");
  node.input(f32({1, 1}, {7})).constant(s64({0}, {}));
  EXPECT_EQ(node.run().at(0), f32({}, {7}));
}

TEST(Reshape, AllowzeroIsUnknownBeforeOpset14) {
  OneNode node("Reshape", "", 13);
  node.attribute("allowzero", std::int64_t{1});
  node.input(counting({2})).constant(s64({1}, {2}));
  EXPECT_EQ(node.errors(), "E-ATTR: is not an attribute of this operator");
}

TEST(Reshape, ShapeMustBeKnownAtCompileTime) {
  OneNode node("Reshape");
  node.input(counting({2})).input(s64({1}, {2}));
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: must be known at compile time");
}

TEST(Reshape, ShapeMustHoldIntegers) {
  OneNode node("Reshape");
  node.input(counting({2})).constant(f32({1}, {2}));
  EXPECT_EQ(node.errors(), "E-TYPE: must hold integers, got float32");
}

TEST(Reshape, ShapeMustBeAList) {
  OneNode node("Reshape");
  node.input(counting({2})).constant(s64({}, {2}));
  EXPECT_EQ(node.errors(), "E-SHAPE: must have rank 1, got []");
}

TEST(Reshape, WrongElementCountIsRefused) {
  EXPECT_EQ(errors_for(counting({2, 3}), {4, 2}),
            "E-SHAPE: [4, 2] does not fit the 6 elements of [2, 3]");
  EXPECT_EQ(errors_for(counting({2, 3}), {2, 2}),
            "E-SHAPE: [2, 2] does not fit the 6 elements of [2, 3]");
  EXPECT_EQ(errors_for(counting({2, 3}), {4, -1}),
            "E-SHAPE: [4, -1] does not fit the 6 elements of [2, 3]");
  EXPECT_EQ(errors_for(counting({0, 3}), {0, -1}),
            "E-SHAPE: [0, -1] does not fit the 0 elements of [0, 3]");
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_NE(errors_for(counting({4}), {huge, huge, -1}), "");
}

TEST(Reshape, SizesBelowMinusOneAndASecondMinusOneAreRefused) {
  EXPECT_EQ(errors_for(counting({4}), {-2, 2}),
            "E-SHAPE: sizes must be >= 0 with at most one -1, got [-2, 2]");
  EXPECT_EQ(errors_for(counting({4}), {-1, -1}),
            "E-SHAPE: sizes must be >= 0 with at most one -1, got [-1, -1]");
}

TEST(Reshape, ZeroBehindTheLastAxisIsRefused) {
  EXPECT_EQ(errors_for(counting({4}), {4, 0}),
            "E-SHAPE: size 0 copies axis 1, but the data has rank 1");
}

}  // namespace
}  // namespace etch
