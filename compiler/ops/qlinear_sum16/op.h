// QLinearSum16 (org.etch): the sum of two 16-bit tensors in units of a third, or one tensor in
// other units, which passes/fuse_qdq makes of DequantizeLinear, Add (or Relu, Clip, or nothing) and
// QuantizeLinear.
//
//   Inputs a, a_scale, a_zero_point, y_scale, y_zero_point and perhaps b, b_scale, b_zero_point; a,
//   b and y of one type, int16 or uint16; a and b broadcast. All scales and zero points are
//   constant. Attributes clamp_low and clamp_high.
//
//   y = limits of rne( ((a - a_zero) * a_scale + (b - b_zero) * b_scale) / y_scale ) + y_zero
// of real numbers: one rounding, ties to even. Ratios of scales of 2^12 and above and units beyond
// 2^61 are refused.
#pragma once

#include <optional>

#include "compiler/ops/scalar_quantization.h"
#include "compiler/ops/word_ratio.h"

namespace etch {

struct QLinearSum16 {
  DType dtype = DType::kS16;
  bool two = false;  // there is a b
  ScalarQuantization a, b, y;
  Shape shape;  // of y
  int low = 0, high = 0;
};

// What the kernel takes: factors of a and b in units of 2^-bits, of which there are 18 or more.
struct SumFactors16 {
  ExactRatios exact;
  std::int32_t a = 0, b = 0;
  int bits = 0;
};
std::optional<SumFactors16> sum_factors16(const QLinearSum16& sum);

std::vector<Tensor> reference_qlinear_sum16(const Node& node,
                                            std::span<const Tensor* const> inputs);
void lower_qlinear_sum16(Lowering& lowering, const Node& node);

}  // namespace etch
