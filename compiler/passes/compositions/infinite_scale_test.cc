// QuantizeLinear and DequantizeLinear with an infinite scale: the values that ONNX Runtime 1.32
// gives on x86-64, the integers also ONNX's reference evaluator.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const Tensor kValues =
    f32({8}, {0, 1, -1, 1e30F, -1e30F, kInf, -kInf, std::numeric_limits<float>::quiet_NaN()});

Tensor quantized_with(const Tensor& zero_point, float scale = kInf) {
  OneOperator node("QuantizeLinear", 21);
  return node.input(kValues).constant(f32({}, {scale})).constant(zero_point).output();
}

TEST(InfiniteScale, QuantizesFiniteNumbersToTheZeroPoint) {
  EXPECT_EQ(quantized_with(u8({}, {3})), u8({8}, {3, 3, 3, 3, 3, 0, 0, 0}));
  EXPECT_EQ(quantized_with(s8({}, {0})), s8({8}, {0, 0, 0, 0, 0, -128, -128, -128}));
  EXPECT_EQ(OneOperator("QuantizeLinear", 13).input(kValues).constant(f32({1}, {kInf})).output(),
            u8({8}, {0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(InfiniteScale, DequantizesToNanOrInfinity) {
  OneOperator node("DequantizeLinear", 21);
  const Tensor y =
      node.input(u8({3}, {2, 3, 4})).constant(f32({}, {kInf})).constant(u8({}, {3})).output();
  EXPECT_EQ(y.as<float>()[0], -kInf);
  EXPECT_TRUE(std::isnan(y.as<float>()[1]));
  EXPECT_EQ(y.as<float>()[2], kInf);
}

TEST(InfiniteScale, IsRefusedWhereItIsNotOneOrNegative) {
  OneOperator columns("DequantizeLinear", 13);
  columns.input(u8({1, 2}, {2, 3})).constant(f32({2}, {1, kInf}));
  EXPECT_TRUE(says(columns, "must be finite and > 0, got inf at entry 1"));
  OneOperator negative("DequantizeLinear", 13);
  negative.input(u8({1}, {2})).constant(f32({}, {-kInf}));
  EXPECT_TRUE(says(negative, "must be finite and > 0, got -inf"));
}

TEST(InfiniteScale, IsWarnedOf) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {2}).initializer("s", f32({}, {kInf}));
  model.node("QuantizeLinear", {"x", "s"}, {"y"}).output("y");
  Sink sink;
  ASSERT_TRUE(load(model, sink));
  EXPECT_EQ(
      reports_of(sink),
      "model: warning[E-QUANT]: node #0 (QuantizeLinear): its scale is infinite, so that finite "
      "numbers become NaN after it, as in ONNX Runtime; a constant with -inf, as a mask of "
      "attention has, was quantized: put a number such as -10000 there before, or exclude the "
      "node\n");
}

}  // namespace
}  // namespace etch
