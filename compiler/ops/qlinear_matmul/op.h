// QLinearMatMul: 8-bit matrix product requantized to 8 bits.
//
//   ai.onnx QLinearMatMul (10, 21): a [..., M, K], a_scale, a_zero_point, b [..., K, N], b_scale,
//   b_zero_point, y_scale, y_zero_point. a, b and y are u8 or s8; y has y_zero_point's type. a and
//   y are quantized per tensor, b per tensor or per column (shapes: matmul_geometry/geometry.h).
//   org.etch QLinearMatMul: the same with limits of y, see result_limits.h.
//   Per-row quantization of a and y, which ONNX allows, is refused as unsupported.
//
// docs/spec/products.md section 5.4, per column n, float steps in float32:
//   A = sum over k of (a - a_zero_point) * (b - b_zero_point[n])   modulo 2^32
//   S = fl(fl(a_scale * b_scale[n]) / y_scale)
//   y = round_half_even(clamp(fl(fl(A) * S))) + y_zero_point
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ops/matmul_geometry/geometry.h"
#include "compiler/ops/quantization.h"
#include "compiler/ops/result_limits.h"

namespace etch {

// A quantization is absent when known only at run time. Entry i of b's vectors belongs to columns
// c with c % size == i, counted over all matrices of b.
struct QLinearMatMulParams {
  MatMulGeometry geometry;
  std::optional<Quantization> a;
  std::optional<Quantization> b;
  std::optional<Quantization> y;
  ResultLimits limits;
  // Added to A, per column; empty: nothing. No file has one: `etch prove` sets it to see where a
  // step keeps biases (compiler/prove/layer.h).
  std::vector<std::int32_t> bias;
};

std::vector<Tensor> reference_qlinear_matmul(const Node& node,
                                             std::span<const Tensor* const> inputs);

}  // namespace etch
