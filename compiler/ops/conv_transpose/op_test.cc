// ConvTranspose: where inputs and kernel positions meet. Sizes are tested with conv_geometry.
#include "compiler/ops/conv_transpose/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

OneNode transposed(const std::vector<float>& x, const std::vector<float>& w) {
  const auto width = static_cast<std::int64_t>(x.size());
  const auto kernel = static_cast<std::int64_t>(w.size());
  OneNode node("ConvTranspose");
  node.input(Tensor::of<float>({1, 1, width}, x)).input(Tensor::of<float>({1, 1, kernel}, w));
  return node;
}

TEST(ConvTranspose, EachInputStampsTheKernel) {
  OneNode node = transposed({1, 2}, {1, 10, 100});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 1, 4}, {1, 12, 120, 200}));
}

TEST(ConvTranspose, StridesAndDilationsSpreadTheStamps) {
  OneNode strided = transposed({1, 2}, {1, 10});
  strided.attribute("strides", Ints{3});
  EXPECT_EQ(strided.run().at(0), Tensor::of<float>({1, 1, 5}, {1, 10, 0, 2, 20}));
  OneNode dilated = transposed({1, 2}, {1, 10});
  dilated.attribute("dilations", Ints{2});
  EXPECT_EQ(dilated.run().at(0), Tensor::of<float>({1, 1, 4}, {1, 2, 10, 20}));
}

TEST(ConvTranspose, PadsCropAndOutputPaddingAppendsBias) {
  OneNode node = transposed({1, 2}, {1, 10});
  node.input(Tensor::of<float>({1}, {5}));
  node.attribute("strides", Ints{3}).attribute("pads", Ints{1, 0});
  node.attribute("output_padding", Ints{2});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 1, 6}, {15, 5, 7, 25, 5, 5}));
}

TEST(ConvTranspose, GroupsMapInputChannelsToTheirOutputs) {
  OneNode node("ConvTranspose");
  node.input(Tensor::of<float>({1, 2, 1}, {1, 2}));
  node.input(Tensor::of<float>({2, 2, 1}, {1, 2, 3, 4})).attribute("group", std::int64_t{2});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 4, 1}, {1, 2, 6, 8}));
}

TEST(ConvTranspose, OtherTypesAreRefused) {
  OneNode node("ConvTranspose");
  node.input(Tensor(DType::kU8, {1, 1, 2})).input(Tensor(DType::kF32, {1, 1, 1}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got uint8");
}

}  // namespace
}  // namespace etch
