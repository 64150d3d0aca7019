// MatMulInteger: 8-bit matrix product with 32-bit integer result.
//
//   ai.onnx MatMulInteger (10): a [..., M, K] and b [..., K, N], u8 or s8 in any mix; optional
//   a_zero_point (scalar or per row of a) and b_zero_point (scalar or per column of b), of the
//   operand's type; shapes of both: matmul_geometry/geometry.h. y [..., M, N] s32.
//
// y = sum over k of (a - a_zero_point) * (b - b_zero_point), modulo 2^32.
// (docs/spec/products.md section 5.5)
#pragma once

#include <optional>
#include <vector>

#include "compiler/ops/matmul_geometry/geometry.h"

namespace etch {

// Zero points are absent when known only at run time; entry i belongs to rows (columns) r with
// r % size == i, counted over all matrices of the operand.
struct MatMulIntegerParams {
  MatMulGeometry geometry;
  std::optional<std::vector<int>> a_zero_point;
  std::optional<std::vector<int>> b_zero_point;
};

std::vector<Tensor> reference_matmul_integer(const Node& node,
                                             std::span<const Tensor* const> inputs);

}  // namespace etch
