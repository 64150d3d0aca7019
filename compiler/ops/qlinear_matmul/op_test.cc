// QLinearMatMul: values, quantization per column, refusals.
#include "compiler/ops/qlinear_matmul/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

struct Operands {
  Tensor a = narrowed(DType::kU8, {2, 2}, {1, 2, 3, 4});
  Tensor a_scale = Tensor::of<float>({}, {0.5F});
  Tensor a_zero = narrowed(DType::kU8, {}, {1});
  Tensor b = narrowed(DType::kS8, {2, 2}, {4, 6, 8, 10});
  Tensor b_scale = Tensor::of<float>({2}, {1.0F, 0.5F});
  Tensor b_zero = narrowed(DType::kS8, {1, 2}, {0, 6});
  Tensor y_scale = Tensor::of<float>({}, {1.0F});
  Tensor y_zero = narrowed(DType::kU8, {}, {3});
};

OneNode node_with(const Operands& o) {
  OneNode node("QLinearMatMul");
  node.input(o.a).constant(o.a_scale).constant(o.a_zero);
  node.input(o.b).constant(o.b_scale).constant(o.b_zero);
  node.constant(o.y_scale).constant(o.y_zero);
  return node;
}

TEST(QLinearMatMul, RequantizesPerColumn) {
  // Sums: column 0: 8, 32; column 1 (b - 6 = 0, 4): 4, 12. Times 0.5 and 0.25, plus 3.
  OneNode node = node_with({});
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {2, 2}, {7, 4, 19, 6}));
  EXPECT_EQ(params_of<QLinearMatMulParams>(node.node()).b, (Quantization{{1.0F, 0.5F}, {0, 6}}));
}

TEST(QLinearMatMul, BatchesShareTheColumns) {
  Operands o;
  o.a = narrowed(DType::kU8, {2, 1, 2}, {1, 2, 3, 4});
  EXPECT_EQ(node_with(o).run().at(0), narrowed(DType::kU8, {2, 1, 2}, {7, 4, 19, 6}));
}

TEST(QLinearMatMul, QuantizationPerRowIsRefused) {
  Operands o;
  o.a_scale = Tensor::of<float>({2}, {1, 1});
  EXPECT_EQ(node_with(o).errors(), "E-UNSUPPORTED: quantization per row is not supported, got [2]");
  o = {};
  o.y_zero = Tensor(DType::kU8, {2});
  EXPECT_EQ(node_with(o).errors(), "E-UNSUPPORTED: quantization per row is not supported, got [2]");
}

TEST(QLinearMatMul, WrongTypesAndLengthsAreRefused) {
  Operands o;
  o.a = Tensor(DType::kS16, {2, 2});
  EXPECT_EQ(node_with(o).errors(), "E-TYPE: must be uint8, int8, got int16");
  o = {};
  o.y_zero = Tensor(DType::kS32, {});
  EXPECT_EQ(node_with(o).errors(), "E-TYPE: must be uint8, int8, got int32");
  o = {};
  o.b_scale = Tensor::of<float>({3}, {1, 1, 1});
  EXPECT_EQ(node_with(o).errors(), "E-QUANT: shape must be [] or [1] or [2] or [1, 2], got [3]");
  o = {};
  o.b = Tensor(DType::kS8, {3, 2});
  EXPECT_EQ(node_with(o).errors(), "E-SHAPE: cannot multiply matrices of shapes [2, 2] and [3, 2]");
}

TEST(QLinearMatMul, ACollapsedScaleIsRefused) {
  Operands o;
  o.a_scale = Tensor::of<float>({}, {1e-30F});
  o.b_scale = Tensor::of<float>({}, {1e-30F});
  EXPECT_NE(node_with(o).errors().find("E-QUANT: the combined scale"), std::string::npos);
}

}  // namespace
}  // namespace etch
