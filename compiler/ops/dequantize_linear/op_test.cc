// DequantizeLinear: values, types, axes, refusals. More about axes: quantize_linear/op_test.cc.
#include "compiler/ops/dequantize_linear/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }

OneNode dequantize(Tensor x, Tensor x_scale, std::int64_t opset = 23) {
  OneNode node("DequantizeLinear", "", opset);
  node.input(std::move(x)).constant(std::move(x_scale));
  return node;
}

TEST(DequantizeLinear, SubtractsThenScales) {
  OneNode node = dequantize(narrowed(DType::kU8, {4}, {0, 3, 128, 255}), scalar(2));
  node.constant(narrowed(DType::kU8, {}, {128}));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({4}, {-256, -250, 0, 254}));
}

TEST(DequantizeLinear, TakesEveryIntegerType) {
  for (const DType type :
       {DType::kU8, DType::kS8, DType::kU16, DType::kS16, DType::kS32, DType::kU4, DType::kS4}) {
    OneNode node = dequantize(narrowed(type, {2}, {7, 1}), scalar(0.5F));
    node.constant(narrowed(type, {}, {3}));
    EXPECT_EQ(node.run().at(0), Tensor::of<float>({2}, {2, -1})) << name_of(type);
  }
}

TEST(DequantizeLinear, RoundsLargeIntegersToFloatBeforeScaling) {
  OneNode node = dequantize(narrowed(DType::kS32, {1}, {(1 << 24) + 1}), scalar(2));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1}, {0x1p25F}));
}

TEST(DequantizeLinear, Int64IsForConstantsAlone) {
  const Tensor wide = Tensor::of<std::int64_t>({2}, {std::int64_t{1} << 40, -3});
  OneNode node("DequantizeLinear", "", 13);
  node.constant(wide).constant(scalar(0.5F));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({2}, {0x1p39F, -1.5F}));
  OneNode shifted("DequantizeLinear", "", 13);
  shifted.constant(wide).constant(scalar(0.5F)).constant(Tensor::of<std::int64_t>({}, {1}));
  EXPECT_EQ(shifted.errors(), "E-UNSUPPORTED: int64 must be constant, with the zero point 0");
  OneNode of_floats("DequantizeLinear", "", 13);
  of_floats.constant(wide).constant(scalar(0.5F)).constant(scalar(0.0F));
  EXPECT_NE(of_floats.errors(), "");
  EXPECT_EQ(dequantize(wide, scalar(1)).errors(),
            "E-UNSUPPORTED: int64 must be constant, with the zero point 0");
}

// tf2onnx writes axis 3, that of the weights, for biases of depthwise convolutions.
TEST(DequantizeLinear, AVectorHasOneAxis) {
  OneNode node = dequantize(narrowed(DType::kS32, {2}, {1, 2}), Tensor::of<float>({2}, {1, 10}));
  node.attribute("axis", std::int64_t{3});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({2}, {1, 20}));
  OneNode other = dequantize(narrowed(DType::kS32, {2}, {1, 2}), Tensor::of<float>({3}, {1, 2, 3}));
  EXPECT_EQ(other.attribute("axis", std::int64_t{3}).errors(),
            "E-QUANT: shape must be [] or [1] or [2], got [3]");
}

TEST(DequantizeLinear, ScalesPerIndexOfTheAxis) {
  OneNode node =
      dequantize(narrowed(DType::kS8, {2, 2}, {1, 2, 3, 4}), Tensor::of<float>({2}, {1, 10}));
  node.constant(narrowed(DType::kS8, {2}, {0, 1})).attribute("axis", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({2, 2}, {1, 2, 20, 30}));
}

TEST(DequantizeLinear, TheDefaultAxisIsOne) {
  OneNode node =
      dequantize(narrowed(DType::kS8, {2, 2}, {1, 2, 3, 4}), Tensor::of<float>({2}, {1, 10}));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({2, 2}, {1, 20, 3, 40}));
}

TEST(DequantizeLinear, ScalesPerBlock) {
  OneNode node =
      dequantize(narrowed(DType::kS8, {1, 3}, {1, 2, 3}), Tensor::of<float>({1, 2}, {1, 10}));
  node.attribute("block_size", std::int64_t{2});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 3}, {1, 2, 30}));
}

TEST(DequantizeLinear, OutputIsFloat32Only) {
  OneNode float32 = dequantize(Tensor(DType::kS8, {1}), scalar(1));
  EXPECT_EQ(float32.attribute("output_dtype", std::int64_t{1}).errors(), "");
  OneNode half = dequantize(Tensor(DType::kS8, {1}), scalar(1));
  EXPECT_EQ(half.attribute("output_dtype", std::int64_t{10}).errors(),
            "E-UNSUPPORTED: output_dtype must be float32 (1), got 10");
}

TEST(DequantizeLinear, WrongTypesAndScalesAreRefused) {
  EXPECT_EQ(dequantize(Tensor(DType::kF32, {1}), scalar(1)).errors(),
            "E-TYPE: must be uint8, int8, uint16, int16, int32, uint4, int4, int64, got float32");
  OneNode type = dequantize(Tensor(DType::kS8, {1}), scalar(1));
  EXPECT_EQ(type.constant(Tensor(DType::kU8, {})).errors(),
            "E-TYPE: must have the operand's type int8, got uint8");
  EXPECT_EQ(dequantize(Tensor(DType::kS8, {1}), scalar(-1)).errors(),
            "E-QUANT: must be finite and > 0, got -1");
  EXPECT_EQ(dequantize(Tensor(DType::kS8, {2, 3}), Tensor::of<float>({2}, {1, 1})).errors(),
            "E-QUANT: shape must be [] or [1] or [3], got [2]");
}

}  // namespace
}  // namespace etch
