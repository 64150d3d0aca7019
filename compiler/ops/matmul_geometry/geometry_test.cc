// Shape rules of matrix products, through MatMul and Gemm nodes.
#include "compiler/ops/matmul_geometry/geometry.h"

#include <gtest/gtest.h>

#include "compiler/ops/gemm/op.h"
#include "compiler/ops/matmul/op.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

OneNode matmul(Shape a, Shape b) {
  OneNode node("MatMul");
  node.input(Tensor(DType::kF32, std::move(a))).input(Tensor(DType::kF32, std::move(b)));
  return node;
}

Shape output_of(OneNode node) {
  EXPECT_TRUE(node.resolve());
  return *node.output(0).shape;
}

TEST(MatMulGeometry, TwoMatricesMakeOne) {
  EXPECT_EQ(output_of(matmul({2, 3}, {3, 4})), (Shape{2, 4}));
}

TEST(MatMulGeometry, BatchesBroadcast) {
  EXPECT_EQ(output_of(matmul({5, 1, 2, 3}, {7, 3, 4})), (Shape{5, 7, 2, 4}));
  EXPECT_EQ(output_of(matmul({2, 3}, {7, 3, 4})), (Shape{7, 2, 4}));
}

TEST(MatMulGeometry, VectorsCountAsOneRowOrColumn) {
  EXPECT_EQ(output_of(matmul({3}, {3, 4})), (Shape{4}));
  EXPECT_EQ(output_of(matmul({2, 3}, {3})), (Shape{2}));
  EXPECT_EQ(output_of(matmul({3}, {3})), (Shape{}));
  EXPECT_EQ(output_of(matmul({3}, {5, 3, 4})), (Shape{5, 4}));
}

TEST(MatMulGeometry, ShapesThatDoNotFitAreRefused) {
  EXPECT_EQ(matmul({2, 3}, {4, 3}).errors(),
            "E-SHAPE: cannot multiply matrices of shapes [2, 3] and [4, 3]");
  EXPECT_EQ(matmul({2, 2, 3}, {5, 3, 4}).errors(),
            "E-SHAPE: cannot multiply matrices of shapes [2, 2, 3] and [5, 3, 4]");
  EXPECT_EQ(matmul({}, {3}).errors(), "E-SHAPE: cannot multiply matrices of shapes [] and [3]");
}

TEST(MatMulGeometry, ParametersPerRowAndColumnHaveFourShapes) {
  MatMulGeometry g;
  g.a_batch = {5};
  g.b_batch = {6};
  g.rows = 2;
  g.cols = 4;
  EXPECT_EQ(per_row_shapes(g), (std::vector<Shape>{{}, {1}, {2}, {5, 2, 1}}));
  EXPECT_EQ(per_column_shapes(g), (std::vector<Shape>{{}, {1}, {4}, {6, 1, 4}}));
}

OneNode gemm(Shape a, Shape b, Shape c) {
  OneNode node("Gemm");
  node.input(Tensor(DType::kF32, std::move(a))).input(Tensor(DType::kF32, std::move(b)));
  node.input(Tensor(DType::kF32, std::move(c)));
  return node;
}

TEST(GemmGeometry, TransposedOperandsSwapTheirSizes) {
  OneNode node = gemm({3, 2}, {4, 3}, {4});
  node.attribute("transA", std::int64_t{1}).attribute("transB", std::int64_t{1});
  ASSERT_TRUE(node.resolve());
  const GemmGeometry& g = params_of<GemmParams>(node.node()).geometry;
  EXPECT_EQ(g.rows, 2);
  EXPECT_EQ(g.depth, 3);
  EXPECT_EQ(g.cols, 4);
  EXPECT_EQ(g.a_index(1, 2), 5U);
  EXPECT_EQ(g.b_index(2, 1), 5U);
}

TEST(GemmGeometry, TheBiasBroadcasts) {
  for (const auto& [c, row, col] : std::vector<std::tuple<Shape, std::int64_t, std::int64_t>>{
           {{}, 0, 0}, {{1}, 0, 0}, {{4}, 0, 1}, {{1, 4}, 0, 1}, {{2, 1}, 1, 0}, {{2, 4}, 4, 1}}) {
    OneNode node = gemm({2, 3}, {3, 4}, c);
    ASSERT_TRUE(node.resolve()) << to_string(c);
    const GemmGeometry& g = params_of<GemmParams>(node.node()).geometry;
    EXPECT_EQ(g.c_row_stride, row) << to_string(c);
    EXPECT_EQ(g.c_col_stride, col) << to_string(c);
  }
}

TEST(GemmGeometry, OtherBiasesAreRefused) {
  EXPECT_EQ(gemm({2, 3}, {3, 4}, {2}).errors(), "E-SHAPE: must broadcast to [2, 4], got [2]");
  EXPECT_EQ(gemm({2, 3}, {3, 4}, {1, 2, 4}).errors(),
            "E-SHAPE: must broadcast to [2, 4], got [1, 2, 4]");
}

TEST(GemmGeometry, ShapesThatDoNotFitAreRefused) {
  EXPECT_EQ(gemm({2, 3}, {4, 3}, {4}).errors(),
            "E-SHAPE: cannot multiply matrices of shapes [2, 3] and [4, 3]");
  EXPECT_EQ(gemm({1, 2, 3}, {3, 4}, {4}).errors(),
            "E-SHAPE: cannot multiply matrices of shapes [1, 2, 3] and [3, 4]");
}

TEST(GemmGeometry, TranspositionIsZeroOrOne) {
  OneNode node = gemm({2, 3}, {3, 4}, {4});
  node.attribute("transA", std::int64_t{2});
  EXPECT_EQ(node.errors(), "E-ATTR: must be 0 or 1, got 2");
}

}  // namespace
}  // namespace etch
