// Pow: special exponents, types, refusals. Accuracy is tested with runtime/etch_functions.h.
#include "compiler/ops/pow/op.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode power(const Tensor& x, const Tensor& y) {
  OneNode node("Pow");
  node.input(x).constant(y);
  return node;
}

TEST(Pow, TakesEachElementToItsPower) {
  EXPECT_EQ(power(f32({3}, {2, 4, 5}), f32({3}, {3, 0.5F, 0})).run().at(0), f32({3}, {8, 2, 1}));
}

TEST(Pow, OneExponentOf2Or3Multiplies) {
  constexpr float kOdd = 1.2345678F;
  EXPECT_EQ(power(f32({1}, {kOdd}), f32({}, {2})).run().at(0), f32({1}, {kOdd * kOdd}));
  EXPECT_EQ(power(f32({1}, {kOdd}), f32({}, {3})).run().at(0), f32({1}, {kOdd * kOdd * kOdd}));
}

TEST(Pow, ExponentsMayBeIntegers) {
  EXPECT_EQ(power(f32({2}, {2, 3}), s64({}, {2})).run().at(0), f32({2}, {4, 9}));
  EXPECT_EQ(power(f32({2}, {2, 3}), s32({2}, {-1, 2})).run().at(0), f32({2}, {0.5F, 9}));
}

TEST(Pow, Broadcasts) {
  EXPECT_EQ(power(f32({2, 1}, {2, 3}), f32({2}, {1, 2})).run().at(0), f32({2, 2}, {2, 4, 3, 9}));
}

TEST(Pow, IntegerExponentsMustBeKnownWhenCompiling) {
  OneNode node("Pow");
  node.input(f32({1}, {2})).input(s64({1}, {2}));
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: must be known at compile time when it holds integers");
}

TEST(Pow, OtherTypesAndShapesAreRefused) {
  EXPECT_EQ(power(s32({1}, {2}), f32({}, {2})).errors(), "E-TYPE: must be float32, got int32");
  EXPECT_EQ(power(f32({1}, {2}), u8({}, {2})).errors(),
            "E-TYPE: must be float32, int32, int64, got uint8");
  EXPECT_EQ(power(f32({2}, {2, 2}), f32({3}, {1, 2, 3})).errors(),
            "E-SHAPE: shapes [2] and [3] do not broadcast");
}

TEST(Pow, OfAConstantThatIsNoNumberIsRefused) {
  for (const float y :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(power(f32({1}, {2}), f32({}, {y})).errors(), "E-UNSUPPORTED: must be finite");
  }
}

}  // namespace
}  // namespace etch
