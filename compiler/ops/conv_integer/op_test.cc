// ConvInteger: the published examples, zero points, wrap-around and the refusals.
#include "compiler/ops/conv_integer/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
using U8 = std::vector<std::uint8_t>;
using S8 = std::vector<std::int8_t>;
using S32 = std::vector<std::int32_t>;

OneNode example() {
  OneNode node("ConvInteger");
  node.input(Tensor::of<std::uint8_t>({1, 1, 3, 3}, U8{2, 3, 4, 5, 6, 7, 8, 9, 10}));
  node.constant(Tensor::of<std::uint8_t>({1, 1, 2, 2}, U8{1, 1, 1, 1}));
  node.constant(Tensor::of<std::uint8_t>({}, U8{1}));
  return node;
}

TEST(ConvInteger, ExampleWithoutPadding) {
  EXPECT_EQ(example().run().at(0), Tensor::of<std::int32_t>({1, 1, 2, 2}, S32{12, 16, 24, 28}));
}

TEST(ConvInteger, ExampleWithPaddingOfTheZeroPoint) {
  OneNode node = example();
  node.attribute("pads", Ints{1, 1, 1, 1});
  const S32 expected{1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9};
  EXPECT_EQ(node.run().at(0), Tensor::of<std::int32_t>({1, 1, 4, 4}, expected));
}

TEST(ConvInteger, WeightZeroPointsMayDifferByChannel) {
  // The second channel's weights all equal its zero point.
  OneNode node("ConvInteger");
  node.input(Tensor::of<std::uint8_t>({1, 1, 2}, U8{2, 3}));
  node.constant(Tensor::of<std::uint8_t>({2, 1, 1}, U8{1, 1}));
  node.omitted().constant(Tensor::of<std::uint8_t>({2}, U8{0, 1}));
  EXPECT_EQ(node.run().at(0), Tensor::of<std::int32_t>({1, 2, 2}, S32{2, 3, 0, 0}));
  EXPECT_EQ(params_of<ConvIntegerParams>(node.node()).w_zero_point, (std::vector<int>{0, 1}));
  EXPECT_EQ(params_of<ConvIntegerParams>(node.node()).x_zero_point, (std::vector<int>{0}));
}

TEST(ConvInteger, ZeroPointsMayComeAtRunTime) {
  OneNode node("ConvInteger");
  node.input(Tensor::of<std::int8_t>({1, 1, 2}, S8{-128, 127}));
  node.constant(Tensor::of<std::int8_t>({1, 1, 1}, S8{-128}));
  node.input(Tensor::of<std::int8_t>({}, S8{127})).input(Tensor::of<std::int8_t>({}, S8{127}));
  EXPECT_EQ(node.run().at(0), Tensor::of<std::int32_t>({1, 1, 2}, S32{65025, 0}));
  EXPECT_FALSE(params_of<ConvIntegerParams>(node.node()).x_zero_point.has_value());
}

TEST(ConvInteger, OverflowWraps) {
  // 40000 * 255 * 255 = 2601000000 = 2^32 - 1693967296.
  OneNode node("ConvInteger");
  node.input(Tensor::of<std::uint8_t>({1, 40000, 1}, U8(40000, 255)));
  node.input(Tensor::of<std::uint8_t>({1, 40000, 1}, U8(40000, 255)));
  EXPECT_EQ(node.run().at(0), Tensor::of<std::int32_t>({1, 1, 1}, S32{-1693967296}));
}

TEST(ConvInteger, TypesMustBeEightBits) {
  OneNode node("ConvInteger");
  node.input(Tensor(DType::kF32, {1, 1, 2})).constant(Tensor(DType::kU8, {1, 1, 1}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be uint8, int8, got float32");
  OneNode weights("ConvInteger");
  weights.input(Tensor(DType::kU8, {1, 1, 2})).constant(Tensor(DType::kS16, {1, 1, 1}));
  EXPECT_EQ(weights.errors(), "E-TYPE: must be uint8, int8, got int16");
}

TEST(ConvInteger, ZeroPointsMustFit) {
  OneNode type("ConvInteger");
  type.input(Tensor(DType::kU8, {1, 1, 2})).constant(Tensor(DType::kU8, {3, 1, 1}));
  type.constant(Tensor(DType::kS8, {}));
  EXPECT_EQ(type.errors(), "E-TYPE: must have the operand's type uint8, got int8");
  OneNode length("ConvInteger");
  length.input(Tensor(DType::kU8, {1, 1, 2})).constant(Tensor(DType::kU8, {3, 1, 1}));
  length.omitted().constant(Tensor(DType::kU8, {2}));
  EXPECT_EQ(length.errors(), "E-QUANT: shape must be [] or [1] or [3], got [2]");
}

}  // namespace
}  // namespace etch
