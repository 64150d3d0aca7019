// QLinearProduct16 (org.etch): the matrix product of two 16-bit tensors in units of a third, which
// passes/fuse_qdq makes of DequantizeLinear, MatMul, perhaps Relu or Clip, and QuantizeLinear.
//
//   Inputs a, a_scale, a_zero_point, y_scale, y_zero_point, b, b_scale, b_zero_point; a, b and y of
//   one type, int16 or uint16, a and b with the shapes of MatMul. All scales and zero points are
//   constant. Attributes clamp_low and clamp_high.
//
//   A = sum over k of (a[m, k] - a_zero) * (b[k, n] - b_zero)          exact
//   y[m, n] = limits of rne(A * M) + y_zero
// M is a_scale * b_scale / y_scale with 60 significant bits, cut off; the product with it and its
// rounding to the nearest, ties to even, are exact. So y is that of the real number that the three
// operators mean, unless that is within 2^-42 of a tie. Extreme ratios of scales, and a depth of 0
// or beyond 2^20, are refused.
#pragma once

#include "compiler/ops/matmul_geometry/geometry.h"
#include "compiler/ops/qlinear_conv16/op.h"
#include "compiler/ops/scalar_quantization.h"

namespace etch {

struct QLinearProduct16 {
  DType dtype = DType::kS16;
  ScalarQuantization a, b, y;
  MatMulGeometry geometry;
  int low = 0, high = 0;

  WideScale scale() const { return wide_scale(a.scale, b.scale, y.scale); }
};

// rne(|sum| * factor / 2^exponent) with the sign of the sum, in size at most 2^17.
std::int64_t scaled_total(std::int64_t sum, const WideScale& scale);

std::vector<Tensor> reference_qlinear_product16(const Node& node,
                                                std::span<const Tensor* const> inputs);
void lower_qlinear_product16(Lowering& lowering, const Node& node);

}  // namespace etch
