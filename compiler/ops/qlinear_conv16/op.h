// QLinearConv16, QLinearConvTranspose16, QLinearMatMul16 (org.etch): convolutions and products of
// 16-bit activations and 8-bit weights requantized to 16 bits, which passes/fuse_qdq makes of
// DequantizeLinear, Conv, ConvTranspose, Gemm or MatMul, and QuantizeLinear.
//
//   Inputs as those of QLinearConv: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale,
//   y_zero_point, B, and B_rest [M], int32 in [-2^30, 2^30]; x and y of one type, int16 or uint16;
//   w int8 or uint8; everything but x is constant. Attributes of Conv, clamp_low and clamp_high.
//   B_rest is what the bias has beyond B, in 2^-31 of B's unit.
//   QLinearMatMul16 has x [..., K], w [M, K] and y [..., M]: the pointwise convolution of rows.
//
//   A = B[m] + sum of (x - x_zero_point) * (w - w_zero_point[m])
//       proved to fit in int32, or limited to it where that is proved not to change y
//   y = limits of rne(A * M[m] + R[m]) + y_zero_point
// M is x_scale * w_scale[m] / y_scale with 60 significant bits, cut off; A * M + R and its rounding
// to the nearest, ties to even, are exact. R is B_rest * M / 2^31 as a multiple of 2^-shift, which
// is 2^-28 of M or less. The real number that the three operators mean is (A + B_rest / 2^31) times
// the quotient itself: the two round apart only within 2^-27 (2^-29 * M, if more) of a tie.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ops/conv_geometry/geometry.h"
#include "compiler/ops/quantization.h"

namespace etch {

// factor / 2^exponent, factor in [2^59, 2^60).
struct WideScale {
  std::int64_t factor = 0;
  int exponent = 0;
  std::int32_t high() const { return static_cast<std::int32_t>(factor >> 31); }
  std::int32_t low() const { return static_cast<std::int32_t>(factor & 0x7fffffff); }
  int shift() const { return exponent - 31; }
  // rest / 2^31 of a unit times the factor, as a multiple of 2^-shift, |rest| <= 2^28.
  std::int32_t rest(std::int32_t of_bias) const;
};
WideScale wide_scale(float x, float w, float y);

struct QLinearConv16 {
  ConvGeometry geometry;
  Shape shape;  // of y
  Quantization x, w, y;
  std::vector<std::int32_t> rests;  // B_rest; empty: 0
  int low = 0, high = 0;            // limits of y
  // Channels of each part of a sum that is proved to fit in int32, even; 0: the whole sum does.
  std::int64_t part = 0;
};

// 0 or more as `part` above; null and an error if there is none, or if limiting a sum would show.
std::optional<std::int64_t> part_of_sums(ResolveContext& context, const QLinearConv16& conv);

// rne(sum * factor / 2^exponent + added / 2^shift) from the quotient and the rest, which is
// compared with one half. |sum| < 2^32.
std::int64_t scaled_sum(std::int64_t sum, const WideScale& scale, std::int32_t added);

std::vector<Tensor> reference_qlinear_conv16(const Node& node,
                                             std::span<const Tensor* const> inputs);
void lower_qlinear_conv16(Lowering& lowering, const Node& node);

}  // namespace etch
