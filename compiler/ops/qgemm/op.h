// QGemm: 8-bit matrix product with bias, requantized to 8 bits or converted to float.
//
//   com.microsoft QGemm (1): A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale,
//   y_zero_point. A [M, K] (transA: [K, M]) and B [K, N] (transB: [N, K]) are u8 or s8, A per
//   tensor, B per tensor or per column [N]; optional C s32 broadcasts to [M, N]. With y_scale and
//   y_zero_point y is of y_zero_point's type (u8 or s8), without both it is float32.
//   Attributes transA, transB, alpha (default 1; here > 0).
//   org.etch QGemm: the same with limits of an 8-bit y, see result_limits.h.
//
// docs/spec/products.md section 5.6, per column n, float steps in float32:
//   A32 = C[m, n] + sum over k of (A - a_zero_point) * (B - b_zero_point[n])   modulo 2^32
//   P   = fl(fl(alpha * a_scale) * b_scale[n])
//   8 bits: y = round_half_even(clamp(fl(fl(A32) * fl(P / y_scale)))) + y_zero_point
//   float:  y = fl(fl(A32) * P)
#pragma once

#include <optional>

#include "compiler/ops/matmul_geometry/geometry.h"
#include "compiler/ops/quantization.h"
#include "compiler/ops/result_limits.h"

namespace etch {

enum class QGemmOutput { kFloat, kQuantized };

// A quantization is absent when known only at run time; y's also when the output is float.
struct QGemmParams {
  GemmGeometry geometry;
  QGemmOutput output = QGemmOutput::kQuantized;
  float alpha = 1.0F;   // finite and > 0
  ResultLimits limits;  // of 8-bit output
  std::optional<Quantization> a;
  std::optional<Quantization> b;
  std::optional<Quantization> y;
};

// fl(fl(fl(alpha * a_scale) * b_scale[n]) / y_scale) per entry of b_scale; without the division
// when `y` is null (float output).
std::vector<float> qgemm_scale(float alpha, const Quantization& a, const Quantization& b,
                               const Quantization* y);

std::vector<Tensor> reference_qgemm(const Node& node, std::span<const Tensor* const> inputs);

}  // namespace etch
