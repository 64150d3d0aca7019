// What operators that are written as others refuse, and forms of them that files rarely have.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(RefusedCompositions, OneHot) {
  const auto one_hot = [] { return OneOperator("OneHot", 13).input(s64({2}, {0, 1})); };
  OneOperator counted = one_hot();
  EXPECT_TRUE(says(counted.input(s64({1}, {3})).constant(f32({2}, {0, 1})),
                   "must be one number known at compile time"));
  OneOperator none = one_hot();
  EXPECT_TRUE(says(none.constant(f32({}, {-1})).constant(f32({2}, {0, 1})),
                   "depth must be at least 1, and there must be two values"));
  OneOperator values = one_hot();
  EXPECT_TRUE(says(values.constant(s64({}, {2})).constant(f32({3}, {0, 1, 2})), "two values"));
  OneOperator axis = one_hot().attribute("axis", std::int64_t{5});
  EXPECT_TRUE(says(axis.constant(s64({}, {2})).constant(f32({2}, {0, 1})), "axis: must be in"));
  EXPECT_EQ(one_hot().constant(f32({}, {2})).constant(f32({2}, {0, 1})).output(),
            f32({2, 2}, {1, 0, 0, 1}));
}

TEST(RefusedCompositions, Trilu) {
  OneOperator vector("Trilu", 14);
  EXPECT_TRUE(says(vector.input(f32({2}, {1, 2})), "must have at least two axes"));
  OneOperator two("Trilu", 14);
  EXPECT_TRUE(
      says(two.input(f32({1, 1}, {1})).constant(s64({2}, {0, 1})), "must have one element"));
  OneOperator floats("Trilu", 14);
  EXPECT_TRUE(says(floats.input(f32({1, 1}, {1})).constant(f32({}, {1})), "input 1: must be"));
}

TEST(RefusedCompositions, CenterCropPad) {
  OneOperator many("CenterCropPad", 18);
  EXPECT_TRUE(
      says(many.input(f32({2}, {1, 2})).constant(s64({2}, {1, 1})), "shape must have 1 elements"));
  OneOperator axis("CenterCropPad", 18);
  axis.input(f32({2}, {1, 2})).constant(s64({1}, {1})).attribute("axes", Ints{1});
  EXPECT_TRUE(says(axis, "axes and sizes must be those of input 0"));
  OneOperator open("CenterCropPad", 18);
  EXPECT_NE(open.input(f32({2}, {1, 2})).input(s64({1}, {1})).errors(), "");
}

TEST(RefusedCompositions, GatherNDOfNothing) {
  OneOperator node("GatherND", 13);
  EXPECT_TRUE(says(node.input(f32({0, 2}, {})).input(s64({1, 1}, {0})),
                   "has no elements that indices could name"));
}

TEST(RefusedCompositions, MaxUnpool) {
  const auto pool = [] { return OneOperator("MaxUnpool", 11).input(f32({1, 1, 2}, {5, 6})); };
  OneOperator indices = pool().attribute("kernel_shape", Ints{2});
  EXPECT_TRUE(says(indices.input(s64({1, 1, 1}, {0})), "indices must have the shape of X"));
  OneOperator shape = pool().attribute("kernel_shape", Ints{2}).attribute("pads", Ints{9, 9});
  EXPECT_TRUE(says(shape.input(s64({1, 1, 2}, {0, 1})), "the output has no such shape"));
}

// Indices count in the shape that the output has without output_shape: [1, 1, 2, 2] here.
TEST(RefusedCompositions, MaxUnpoolToALargerShape) {
  OneOperator node("MaxUnpool", 11);
  node.input(f32({1, 1, 1, 1}, {7})).input(s64({1, 1, 1, 1}, {3})).constant(s64({4}, {1, 1, 3, 3}));
  node.attribute("kernel_shape", Ints{2, 2});
  EXPECT_EQ(node.output(), f32({1, 1, 3, 3}, {0, 0, 0, 0, 7, 0, 0, 0, 0}));
}

TEST(RefusedCompositions, Col2Im) {
  OneOperator node("Col2Im", 18);
  node.input(f32({1, 3, 2}, {0, 0, 0, 0, 0, 0})).constant(s64({1}, {3})).constant(s64({1}, {2}));
  EXPECT_TRUE(says(node, "do not fit the image, the block and the attributes"));
}

}  // namespace
}  // namespace etch
