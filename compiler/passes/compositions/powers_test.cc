// Pow of integers, and LayerNormalization with factors that broadcast: formulas by hand.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(PowersOfIntegers, AreExactAndModuloTheirType) {
  OneOperator node("Pow", 15);
  node.input(s32({6}, {0, 1, -1, 3, -2, 46341})).constant(s64({}, {2}));
  EXPECT_EQ(node.output(), s32({6}, {0, 1, 1, 9, 4, -2147479015}));
  OneOperator wide("Pow", 13);
  wide.input(s64({3}, {3, -3, 10})).constant(s32({3}, {39, 39, 18}));
  EXPECT_EQ(wide.output(),
            s64({3}, {4052555153018976267, -4052555153018976267, 1000000000000000000}));
}

TEST(PowersOfIntegers, TakeExponentsOfRunTimeAndBelowZero) {
  OneOperator node("Pow", 13);
  node.input(s32({8}, {0, 2, 2, 1, -1, -1, -1, 7}));
  node.input(s64({8}, {0, -1, 30, -5, -5, 1000001, -4, 1}));
  EXPECT_EQ(node.output(), s32({8}, {1, 0, 1 << 30, 1, -1, -1, 1, 7}));
}

TEST(PowersOfIntegers, TakeWholeFloatsThatAreConstants) {
  OneOperator node("Pow", 13);
  EXPECT_EQ(node.input(s32({2}, {3, -2})).constant(f32({}, {3})).output(), s32({2}, {27, -8}));
  OneOperator half("Pow", 13);
  EXPECT_EQ(half.input(s32({1}, {3})).constant(f32({}, {0.5F})).errors(),
            "model: error[E-UNSUPPORTED]: node #0 (Pow): exponents must be whole numbers up to "
            "2^24, got 0.5\n");
  OneOperator most("Pow", 13);
  const auto all = Tensor::of<std::uint64_t>({}, {UINT64_MAX});
  EXPECT_NE(most.input(s64({1}, {3})).constant(all).errors().find("2^24, got 2^63 or more"),
            std::string::npos);
  OneOperator shapes("Pow", 13);
  EXPECT_EQ(shapes.input(s32({2}, {1, 2})).input(s32({3}, {1, 2, 3})).errors(),
            "model: error[E-SHAPE]: node #0 (Pow): shapes [2] and [3] do not broadcast\n");
  OneOperator open("Pow", 13);
  EXPECT_NE(open.input(s32({1}, {3}))
                .input(f32({}, {2}))
                .errors()
                .find("must be known at compile time when it is no signed integer"),
            std::string::npos);
}

TEST(LayerNormalizationFactors, OfOneRowAreRepeatedAlongIt) {
  OneOperator node("LayerNormalization", 17);
  node.input(f32({2, 2}, {1, 3, -8, 8})).constant(f32({1}, {2})).constant(f32({}, {10}));
  EXPECT_EQ(node.attribute("epsilon", 0.0F).output(), f32({2, 2}, {8, 12, 8, 12}));
  OneOperator wide("LayerNormalization", 17);
  wide.input(f32({1, 2, 2}, {-1, 1, 1, -1})).constant(f32({1, 2, 1}, {2, 3}));
  wide.attribute("axis", std::int64_t{1}).attribute("epsilon", 0.0F);
  EXPECT_EQ(wide.output(), f32({1, 2, 2}, {-2, 2, 3, -3}));
}

TEST(LayerNormalizationFactors, OfSeveralRowsAreAppliedToEach) {
  OneOperator node("LayerNormalization", 17);
  node.input(f32({2, 2}, {1, 3, -8, 8})).constant(f32({2, 1}, {2, 5})).constant(f32({2}, {0, 1}));
  EXPECT_EQ(node.attribute("epsilon", 0.0F).output(), f32({2, 2}, {-2, 3, -5, 6}));
}

}  // namespace
}  // namespace etch
