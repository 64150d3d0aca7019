// Cast: truncation, wrapping, and what does not fit.
#include "compiler/ops/cast/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor cast(const Tensor& x, std::int64_t to) {
  OneNode node("Cast");
  node.input(x).attribute("to", to);
  return node.run().at(0);
}

constexpr std::int64_t kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7, kBool = 9;

TEST(Cast, FloatsAreTruncatedTowardsZero) {
  EXPECT_EQ(cast(f32({4}, {2.9F, -2.9F, 0.5F, -0.5F}), kInt32), s32({4}, {2, -2, 0, 0}));
}

TEST(Cast, FloatsThatDoNotFitKeepTheLowBits) {
  EXPECT_EQ(cast(f32({4}, {300, -1, 256.7F, -300}), kUint8), u8({4}, {44, 255, 0, 212}));
  EXPECT_EQ(cast(f32({2}, {3e9F, -INFINITY}), kInt32), s32({2}, {INT32_MIN, INT32_MIN}));
  EXPECT_EQ(cast(f32({1}, {NAN}), kInt32), s32({1}, {INT32_MIN}));
  EXPECT_EQ(cast(f32({2}, {1e10F, 1e20F}), kInt64), s64({2}, {10000000000, INT64_MIN}));
}

TEST(Cast, IntegersWrap) {
  EXPECT_EQ(cast(s32({3}, {-1, 128, 511}), kInt8), s8({3}, {-1, -128, -1}));
  EXPECT_EQ(cast(s8({1}, {-128}), kUint8), u8({1}, {128}));
}

TEST(Cast, FourBitsKeepTheLowBitsOfIntegers) {
  constexpr std::int64_t kUint4 = 21, kInt4 = 22;
  const Tensor low = cast(s32({4}, {-17, 8, 15, 1000}), kInt4);
  EXPECT_EQ(low.dtype(), DType::kS4);
  EXPECT_EQ(low.integers(), (std::vector<std::int64_t>{-1, -8, -1, -8}));
  EXPECT_EQ(cast(s8({2}, {-1, 16}), kUint4).integers(), (std::vector<std::int64_t>{15, 0}));
}

TEST(Cast, FloatsToFourBitsAreRefused) {
  OneNode node("Cast", "", 21);
  node.input(f32({1}, {0.5F})).attribute("to", std::int64_t{22});
  EXPECT_EQ(node.errors(),
            "E-UNSUPPORTED: float32 to int4 rounds and overflows differently everywhere; use "
            "QuantizeLinear");
}

TEST(Cast, IntegersAreRoundedToFloat) {
  EXPECT_EQ(cast(s32({2}, {16777217, -3}), kFloat), f32({2}, {16777216, -3}));
}

TEST(Cast, AnythingButZeroIsTrue) {
  Tensor expected(DType::kBool, {3});
  expected.as<std::uint8_t>()[1] = 1;
  expected.as<std::uint8_t>()[2] = 1;
  EXPECT_EQ(cast(f32({3}, {-0.0F, 0.25F, NAN}), kBool), expected);
}

TEST(Cast, SaturateIsAcceptedFromOpset19On) {
  OneNode node("Cast", "", 19);
  node.input(u8({1}, {1})).attribute("to", kFloat).attribute("saturate", std::int64_t{0});
  EXPECT_EQ(node.errors(), "");
}

TEST(Cast, TargetIsRequiredAndMustBeSupported) {
  OneNode missing("Cast");
  missing.input(u8({1}, {1}));
  EXPECT_EQ(missing.errors(), "E-ATTR: is missing");
  OneNode real("Cast");
  real.input(u8({1}, {1})).attribute("to", 1.0F);
  EXPECT_EQ(real.errors(), "E-ATTR: must be an integer, got a float");
  OneNode text("Cast");
  text.input(u8({1}, {1})).attribute("to", std::int64_t{8});
  EXPECT_EQ(text.errors(), "E-UNSUPPORTED: cannot convert to ONNX data type 8");
}

}  // namespace
}  // namespace etch
