// MatMulIntegerToFloat and DynamicQuantizeMatMul: the formula and the refusals.
#include "compiler/ops/matmul_integer_to_float/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr const char* kMs = "com.microsoft";

OneNode product() {
  OneNode node("MatMulIntegerToFloat", kMs, 1);
  node.input(u8({1, 2}, {3, 5})).input(s8({2, 2}, {1, -2, 3, 4}));
  node.input(f32({}, {0.5F})).input(f32({2}, {0.25F, 2}));
  return node;
}

TEST(MatMulIntegerToFloat, ScalesEachColumn) {
  OneNode node = product();
  EXPECT_EQ(node.run().at(0), f32({1, 2}, {18 * 0.125F, 14}));
}

TEST(MatMulIntegerToFloat, TakesZeroPointsOffAndAddsTheBias) {
  OneNode node = product();
  node.input(u8({}, {1})).input(s8({2}, {1, 0})).input(f32({2}, {100, -1}));
  EXPECT_EQ(node.run().at(0), f32({1, 2}, {101, 11}));
}

TEST(MatMulIntegerToFloat, ScalesOfTheWrongShapeAreRefused) {
  OneNode node("MatMulIntegerToFloat", kMs, 1);
  node.input(u8({1, 2}, {3, 5})).input(s8({2, 2}, {1, -2, 3, 4}));
  node.input(f32({2}, {1, 1})).input(f32({}, {1}));
  EXPECT_NE(node.errors().find("E-QUANT"), std::string::npos);
}

TEST(MatMulIntegerToFloat, BiasHasOneEntryPerColumn) {
  OneNode node = product();
  node.omitted().omitted().input(f32({1}, {1}));
  EXPECT_EQ(node.errors(), "E-SHAPE: must be [2], got [1]");
}

TEST(MatMulIntegerToFloat, FloatsAreRefused) {
  OneNode node("MatMulIntegerToFloat", kMs, 1);
  node.input(f32({1, 1}, {3})).input(s8({1, 1}, {1})).input(f32({}, {1})).input(f32({}, {1}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be uint8, int8, got float32");
}

TEST(DynamicQuantizeMatMul, FindsTheScaleOfA) {
  OneNode node("DynamicQuantizeMatMul", kMs, 1);
  node.input(f32({1, 2}, {0, 255})).input(u8({2, 1}, {9, 2})).input(f32({}, {0.5F}));
  EXPECT_EQ(node.run().at(0), f32({1, 1}, {255}));
}

}  // namespace
}  // namespace etch
