// Conv: the sum, the bias and the refusals. Shapes are tested with conv_geometry.
#include "compiler/ops/conv/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

TEST(Conv, SlidesTheKernelOverThePaddedInput) {
  OneNode node("Conv");
  node.input(Tensor::of<float>({1, 1, 4}, {1, 2, 3, 4}));
  node.input(Tensor::of<float>({1, 1, 3}, {1, 10, 100}));
  node.attribute("pads", Ints{1, 1});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 1, 4}, {210, 321, 432, 43}));
}

TEST(Conv, GroupsSeeTheirOwnChannels) {
  OneNode node("Conv");
  node.input(Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4}));
  node.input(Tensor::of<float>({4, 1, 1}, {1, 2, 3, 4}));
  node.attribute("group", std::int64_t{2});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 4, 2}, {1, 2, 2, 4, 9, 12, 12, 16}));
}

TEST(Conv, AddsTheBiasLast) {
  // 2^24 - 2^24 + 1 in this order is 1; with the bias first, 1 + 2^24 - 2^24 is 0.
  OneNode node("Conv");
  node.input(Tensor::of<float>({1, 2, 1}, {0x1p24F, -0x1p24F}));
  node.input(Tensor::of<float>({1, 2, 1}, {1, 1})).input(Tensor::of<float>({1}, {1}));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 1, 1}, {1}));
}

TEST(Conv, RoundsEachProduct) {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 rounds to 1 + 2^-11; a fused multiply-add would keep 2^-24.
  OneNode node("Conv");
  node.input(Tensor::of<float>({1, 2, 1}, {-1 - 0x1p-11F, 1 + 0x1p-12F}));
  node.input(Tensor::of<float>({1, 2, 1}, {1, 1 + 0x1p-12F}));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 1, 1}, {0}));
}

TEST(Conv, OtherTypesAreRefused) {
  OneNode half("Conv");
  half.input(Tensor(DType::kF16, {1, 1, 2})).input(Tensor(DType::kF32, {1, 1, 1}));
  EXPECT_EQ(half.errors(), "E-UNSUPPORTED: must be float32, got float16");
  OneNode integer("Conv");
  integer.input(Tensor(DType::kF32, {1, 1, 2})).input(Tensor(DType::kS8, {1, 1, 1}));
  EXPECT_EQ(integer.errors(), "E-TYPE: must be float32, got int8");
}

TEST(Conv, UnknownAttributesAreRefused) {
  OneNode node("Conv");
  node.input(Tensor(DType::kF32, {1, 1, 2})).input(Tensor(DType::kF32, {1, 1, 1}));
  node.attribute("output_padding", Ints{0});
  EXPECT_EQ(node.errors(), "E-ATTR: is not an attribute of this operator");
}

}  // namespace
}  // namespace etch
