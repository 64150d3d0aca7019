// MatMulInteger: values, zero points per row and column, wrap-around, refusals.
#include "compiler/ops/matmul_integer/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

using Wide = std::vector<std::int32_t>;

OneNode product(Tensor a, Tensor b) {
  OneNode node("MatMulInteger");
  node.input(std::move(a)).input(std::move(b));
  return node;
}

TEST(MatMulInteger, ExampleWithAZeroPoint) {
  OneNode node = product(narrowed(DType::kU8, {4, 3}, {11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0}),
                         narrowed(DType::kU8, {3, 2}, {1, 4, 2, 5, 3, 6}));
  node.constant(narrowed(DType::kU8, {}, {12})).constant(narrowed(DType::kU8, {}, {0}));
  EXPECT_EQ(node.run().at(0),
            Tensor::of<std::int32_t>({4, 2}, Wide{-38, -83, -44, -98, -50, -113, -56, -128}));
}

TEST(MatMulInteger, ZeroPointsMayDifferByRowAndColumn) {
  OneNode node =
      product(narrowed(DType::kS8, {2, 1}, {1, 2}), narrowed(DType::kU8, {1, 2}, {5, 6}));
  node.constant(narrowed(DType::kS8, {2}, {0, 1})).constant(narrowed(DType::kU8, {2}, {0, 6}));
  EXPECT_EQ(node.run().at(0), Tensor::of<std::int32_t>({2, 2}, Wide{5, 0, 5, 0}));
}

TEST(MatMulInteger, ZeroPointsMayDifferByMatrix) {
  OneNode node =
      product(narrowed(DType::kU8, {1, 1}, {1}), narrowed(DType::kU8, {2, 1, 1}, {9, 9}));
  node.omitted().constant(narrowed(DType::kU8, {2, 1, 1}, {0, 4}));
  EXPECT_EQ(node.run().at(0), Tensor::of<std::int32_t>({2, 1, 1}, Wide{9, 5}));
}

TEST(MatMulInteger, OverflowWraps) {
  const Wide full(40000, 255);
  OneNode node = product(narrowed(DType::kU8, {40000}, full), narrowed(DType::kU8, {40000}, full));
  EXPECT_EQ(node.run().at(0), Tensor::of<std::int32_t>({}, Wide{-1693967296}));
}

TEST(MatMulInteger, WrongTypesAndLengthsAreRefused) {
  EXPECT_EQ(product(Tensor(DType::kF32, {2, 2}), Tensor(DType::kU8, {2, 2})).errors(),
            "E-TYPE: must be uint8, int8, got float32");
  OneNode length = product(Tensor(DType::kU8, {2, 2}), Tensor(DType::kU8, {2, 2}));
  length.constant(Tensor(DType::kU8, {3}));
  EXPECT_EQ(length.errors(), "E-QUANT: shape must be [] or [1] or [2] or [2, 1], got [3]");
  OneNode type = product(Tensor(DType::kU8, {2, 2}), Tensor(DType::kS8, {2, 2}));
  type.omitted().constant(Tensor(DType::kU8, {}));
  EXPECT_EQ(type.errors(), "E-TYPE: must have the operand's type int8, got uint8");
}

}  // namespace
}  // namespace etch
