// Gemm: factors, bias, refusals. Shapes are tested with matmul_geometry.
#include "compiler/ops/gemm/op.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/one_node.h"

namespace etch {
namespace {

OneNode example(std::int64_t opset = 13) {
  OneNode node("Gemm", "", opset);
  node.input(Tensor::of<float>({1, 2}, {1, 2})).input(Tensor::of<float>({2, 2}, {5, 6, 7, 8}));
  return node;
}

TEST(Gemm, WithoutBiasIsAProduct) {
  EXPECT_EQ(example().run().at(0), Tensor::of<float>({1, 2}, {19, 22}));
}

TEST(Gemm, ScalesProductAndBias) {
  OneNode node = example();
  node.input(Tensor::of<float>({2}, {1, 2})).attribute("alpha", 2.0F).attribute("beta", 0.5F);
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 2}, {38.5F, 45}));
}

TEST(Gemm, TransposesItsOperands) {
  OneNode node("Gemm");
  node.input(Tensor::of<float>({2, 1}, {1, 2})).input(Tensor::of<float>({2, 2}, {5, 7, 6, 8}));
  node.attribute("transA", std::int64_t{1}).attribute("transB", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 2}, {19, 22}));
}

TEST(Gemm, BiasIsRequiredBeforeOperatorSet11) {
  EXPECT_EQ(example(9).errors(), "E-GRAPH: input 2 (C) is required before operator set 11");
}

TEST(Gemm, FactorsMustBeFinite) {
  OneNode node = example();
  node.attribute("alpha", std::numeric_limits<float>::infinity());
  EXPECT_EQ(node.errors(), "E-ATTR: must be finite, got inf");
}

TEST(Gemm, OtherTypesAreRefused) {
  OneNode node = example();
  EXPECT_EQ(node.input(Tensor(DType::kS32, {2})).errors(), "E-TYPE: must be float32, got int32");
}

}  // namespace
}  // namespace etch
