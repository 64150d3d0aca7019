// QuantizeLinear: rounding, types, axes, blocks, refusals. Axes are resolved in
// quantization_axis.cc and tested here.
#include "compiler/ops/quantize_linear/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }
Tensor ones(Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return Tensor::of<float>(std::move(shape), std::vector<float>(count, 1.0F));
}

OneNode quantize(Tensor x, Tensor y_scale, std::int64_t opset = 23) {
  OneNode node("QuantizeLinear", "", opset);
  node.input(std::move(x)).constant(std::move(y_scale));
  return node;
}

TEST(QuantizeLinear, DividesRoundsAndSaturates) {
  OneNode node = quantize(Tensor::of<float>({6}, {0, 2, 3, 1000, -254, -1000}), scalar(2));
  node.constant(narrowed(DType::kU8, {}, {128}));
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {6}, {128, 129, 130, 255, 1, 0}));
}

TEST(QuantizeLinear, TiesGoToEvenBeforeTheZeroPoint) {
  OneNode node = quantize(Tensor::of<float>({4}, {0.5F, 1.5F, 2.5F, -0.5F}), scalar(1));
  node.constant(narrowed(DType::kS8, {}, {1}));
  EXPECT_EQ(node.run().at(0), narrowed(DType::kS8, {4}, {1, 3, 3, 1}));
}

TEST(QuantizeLinear, DividesInsteadOfMultiplyingByTheReciprocal) {
  // 2.25 / 0.3F rounds to 7.4999995, 2.25 * (1 / 0.3F) to 7.5.
  EXPECT_EQ(quantize(Tensor::of<float>({1}, {2.25F}), scalar(0.3F)).run().at(0),
            narrowed(DType::kU8, {1}, {7}));
}

TEST(QuantizeLinear, InfinitiesSaturateAndNanIsTheLeast) {
  OneNode node =
      quantize(Tensor::of<float>({3}, {kInfinity, -kInfinity, std::nanf("")}), scalar(1));
  node.constant(narrowed(DType::kS8, {}, {5}));
  EXPECT_EQ(node.run().at(0), narrowed(DType::kS8, {3}, {127, -128, -128}));
}

TEST(QuantizeLinear, TheZeroPointDecidesTheType) {
  for (const auto& [type, most] : std::vector<std::pair<DType, std::int32_t>>{{DType::kU8, 255},
                                                                              {DType::kS8, 127},
                                                                              {DType::kU16, 65535},
                                                                              {DType::kS16, 32767},
                                                                              {DType::kU4, 15},
                                                                              {DType::kS4, 7}}) {
    OneNode node = quantize(Tensor::of<float>({2}, {1e9F, 3}), scalar(1));
    node.constant(narrowed(type, {}, {2}));
    EXPECT_EQ(node.run().at(0), narrowed(type, {2}, {most, 5})) << name_of(type);
  }
}

TEST(QuantizeLinear, OutputDtypeDecidesWithoutAZeroPoint) {
  for (const auto& [number, type] : std::vector<std::pair<std::int64_t, DType>>{{0, DType::kU8},
                                                                                {2, DType::kU8},
                                                                                {3, DType::kS8},
                                                                                {4, DType::kU16},
                                                                                {5, DType::kS16},
                                                                                {21, DType::kU4},
                                                                                {22, DType::kS4}}) {
    OneNode node = quantize(Tensor(DType::kF32, {1}), scalar(1));
    node.attribute("output_dtype", number);
    ASSERT_TRUE(node.resolve());
    EXPECT_EQ(node.output(0).dtype, type);
  }
}

TEST(QuantizeLinear, OutputDtypeMustAgreeAndBeAnInteger) {
  OneNode disagrees = quantize(Tensor(DType::kF32, {1}), scalar(1));
  disagrees.constant(Tensor(DType::kU8, {})).attribute("output_dtype", std::int64_t{3});
  EXPECT_EQ(disagrees.errors(), "E-ATTR: must be y_zero_point's type uint8, got int8");
  OneNode float8 = quantize(Tensor(DType::kF32, {1}), scalar(1));
  float8.attribute("output_dtype", std::int64_t{17});
  EXPECT_EQ(float8.errors(),
            "E-UNSUPPORTED: output_dtype 17 is not an integer type of at most 16 bits");
}

TEST(QuantizeLinear, QuantizesPerIndexOfTheAxis) {
  for (const std::int64_t axis : {1, -2}) {
    OneNode node =
        quantize(Tensor::of<float>({1, 2, 2}, {4, 8, 4, 8}), Tensor::of<float>({2}, {1, 4}));
    node.constant(narrowed(DType::kU8, {2}, {0, 10})).attribute("axis", axis);
    EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 2, 2}, {4, 8, 11, 12}));
    EXPECT_EQ(params_of<QuantizeLinearParams>(node.node()).axis.granularity,
              QuantizationGranularity::kAxis);
    EXPECT_EQ(params_of<QuantizeLinearParams>(node.node()).axis.axis, 1);
  }
}

TEST(QuantizeLinear, QuantizesPerBlock) {
  // Blocks of 2 along axis 0 of size 3: rows 0-1 share a scale per column, row 2 has its own.
  OneNode node = quantize(Tensor::of<float>({3, 2}, {8, 8, 16, 16, 24, 24}),
                          Tensor::of<float>({2, 2}, {1, 2, 4, 8}));
  node.attribute("axis", std::int64_t{0}).attribute("block_size", std::int64_t{2});
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {3, 2}, {8, 4, 16, 8, 6, 3}));
}

TEST(QuantizeLinear, OneScaleIgnoresTheAxis) {
  OneNode node = quantize(Tensor::of<float>({1}, {6}), Tensor::of<float>({1}, {2}));
  node.attribute("axis", std::int64_t{9});
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1}, {3}));
}

TEST(QuantizeLinear, ScaleAndZeroPointMayComeAtRunTime) {
  OneNode node("QuantizeLinear", "", 13);
  node.input(Tensor::of<float>({1}, {6})).input(scalar(2)).input(narrowed(DType::kU8, {}, {1}));
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1}, {4}));
  EXPECT_FALSE(params_of<QuantizeLinearParams>(node.node()).y.has_value());
}

TEST(QuantizeLinear, BadAxesAndBlocksAreRefused) {
  OneNode axis = quantize(Tensor(DType::kF32, {2, 2}), ones({2}));
  axis.attribute("axis", std::int64_t{2});
  EXPECT_EQ(axis.errors(), "E-ATTR: is out of range for rank 2, got 2");
  OneNode negative = quantize(Tensor(DType::kF32, {2, 2}), ones({2}));
  negative.attribute("block_size", std::int64_t{-1});
  EXPECT_EQ(negative.errors(), "E-ATTR: must be >= 0, got -1");
  OneNode blocks = quantize(Tensor(DType::kF32, {2, 5}), ones({2, 2}));
  blocks.attribute("block_size", std::int64_t{2});
  EXPECT_EQ(blocks.errors(), "E-QUANT: shape must be [2, 3], got [2, 2]");
  OneNode huge = quantize(Tensor(DType::kF32, {2, 5}), ones({2, 1}));
  huge.attribute("block_size", std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(huge.errors(), "");
}

TEST(QuantizeLinear, BlocksNeedOperatorSet21) {
  OneNode node = quantize(Tensor(DType::kF32, {2, 2}), ones({2}), 19);
  node.attribute("block_size", std::int64_t{2});
  EXPECT_EQ(node.errors(), "E-ATTR: is not an attribute of this operator");
}

TEST(QuantizeLinear, WrongTypesAndLengthsAreRefused) {
  EXPECT_EQ(quantize(Tensor(DType::kS32, {2}), scalar(1)).errors(),
            "E-UNSUPPORTED: int32 cannot be quantized");
  EXPECT_EQ(quantize(Tensor(DType::kS64, {2}), scalar(1)).errors(),
            "E-TYPE: must be float32, got int64");
  EXPECT_EQ(quantize(Tensor(DType::kF16, {2}), scalar(1)).errors(),
            "E-UNSUPPORTED: must be float32, got float16");
  EXPECT_EQ(quantize(Tensor(DType::kF32, {2}), scalar(0)).errors(),
            "E-QUANT: must be finite and > 0, got 0");
  OneNode type = quantize(Tensor(DType::kF32, {2}), scalar(1));
  EXPECT_EQ(type.constant(Tensor(DType::kS32, {})).errors(),
            "E-TYPE: must be uint8, int8, uint16, int16, uint4, int4, got int32");
  EXPECT_EQ(quantize(Tensor(DType::kF32, {2, 3}), ones({2})).errors(),
            "E-QUANT: shape must be [] or [1] or [3], got [2]");
}

}  // namespace
}  // namespace etch
