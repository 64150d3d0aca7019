// ConvInteger: 8-bit convolution with 32-bit integer result.
//
//   ai.onnx ConvInteger (10): x [N, C, in...] u8 or s8, w [M, C/group, kernel...] u8 or s8 in any
//   mix, optional x_zero_point (scalar, type of x), optional w_zero_point (scalar or [M], type of
//   w). y [N, M, out...] s32. Shapes: conv_geometry/geometry.h. docs/spec/products.md section 5.2.
//
// y = sum of (x - x_zero_point) * (w - w_zero_point[m]), modulo 2^32. Padding holds x_zero_point
// and so contributes 0.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ops/conv_geometry/geometry.h"

namespace etch {

struct ConvIntegerParams {
  ConvGeometry geometry;
  std::optional<std::vector<int>> x_zero_point;  // 1 entry; absent: known at run time only
  std::optional<std::vector<int>> w_zero_point;  // 1 or M entries; absent: the same
};

std::vector<Tensor> reference_conv_integer(const Node& node, std::span<const Tensor* const> inputs);

}  // namespace etch
