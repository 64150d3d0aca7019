// MatMul: values, order of the sum, refusals. Shapes are tested with matmul_geometry.
#include "compiler/ops/matmul/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"

namespace etch {
namespace {

TEST(MatMul, MultipliesRowsByColumns) {
  OneNode node("MatMul");
  node.input(Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  node.input(Tensor::of<float>({2, 2}, {5, 6, 7, 8}));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({2, 2}, {19, 22, 43, 50}));
}

TEST(MatMul, BroadcastsBatches) {
  OneNode node("MatMul");
  node.input(Tensor::of<float>({2, 1, 1, 2}, {1, 2, 3, 4}));
  node.input(Tensor::of<float>({2, 2, 1}, {1, 1, 10, 10}));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({2, 2, 1, 1}, {3, 30, 7, 70}));
}

TEST(MatMul, SumsInOrderOfDepth) {
  OneNode node("MatMul");
  node.input(Tensor::of<float>({3}, {0x1p24F, 1, -0x1p24F}))
      .input(Tensor::of<float>({3}, {1, 1, 1}));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({}, {0}));
}

TEST(MatMul, RoundsProductAndSumAtOnceWhereAskedFor) {
  const float x = 0x1.000002p0F;
  const auto product = [&](FloatSteps steps) {
    OneNode node("MatMul");
    node.input(Tensor::of<float>({2}, {1, x})).input(Tensor::of<float>({2}, {-0x1.000004p0F, x}));
    return node.with(steps).run().at(0);
  };
  EXPECT_EQ(product(FloatSteps::kSeparate), Tensor::of<float>({}, {0}));
  EXPECT_EQ(product(FloatSteps::kFused), Tensor::of<float>({}, {0x1p-46F}));
}

TEST(MatMul, OtherTypesAreRefused) {
  OneNode node("MatMul");
  node.input(Tensor(DType::kS64, {2})).input(Tensor(DType::kBF16, {2}));
  EXPECT_EQ(node.errors(),
            "E-TYPE: must be float32, got int64\nE-UNSUPPORTED: must be float32, got bfloat16");
}

}  // namespace
}  // namespace etch
