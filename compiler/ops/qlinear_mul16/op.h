// QLinearMul16 (org.etch): the product of two 16-bit tensors in units of a third, which
// passes/fuse_qdq makes of DequantizeLinear, Mul, perhaps Relu or Clip, and QuantizeLinear.
//
//   Inputs a, a_scale, a_zero_point, y_scale, y_zero_point, b, b_scale, b_zero_point; a, b and y of
//   one type, int16 or uint16; a and b broadcast. All scales and zero points are constant.
//   Attributes clamp_low and clamp_high.
//
//   y = limits of rne( (a - a_zero) * (b - b_zero) * M ) + y_zero
// M is a_scale * b_scale / y_scale with 60 significant bits, cut off; the product with it and its
// rounding to the nearest, ties to even, are exact. So y is that of the real number that the three
// operators mean, unless that is within 2^-42 of a tie. Extreme ratios of scales are refused.
#pragma once

#include "compiler/ops/qlinear_conv16/op.h"
#include "compiler/ops/scalar_quantization.h"

namespace etch {

struct QLinearMul16 {
  DType dtype = DType::kS16;
  ScalarQuantization a, b, y;
  Shape shape;  // of y
  int low = 0, high = 0;

  WideScale scale() const { return wide_scale(a.scale, b.scale, y.scale); }
};

std::vector<Tensor> reference_qlinear_mul16(const Node& node,
                                            std::span<const Tensor* const> inputs);
void lower_qlinear_mul16(Lowering& lowering, const Node& node);

}  // namespace etch
