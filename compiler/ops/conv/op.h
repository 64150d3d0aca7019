// Conv: float convolution in one to three spatial dimensions.
//
//   ai.onnx Conv (1, 11, 22): x [N, C, in...], w [M, C/group, kernel...], optional B [M]; all
//   float32. y [N, M, out...]. Shapes, padding and groups: conv_geometry/geometry.h.
//
// y[n, m, o] = (sum over kernel positions in row-major order, then input channels c of m's
// group, of x * w) + B[m]. The sum starts at 0, is kept in float32, and every product and every
// sum is rounded; positions in the padding are left out; the bias is added last.
//
//   org.etch ConvRelu, made by passes/fuse_relu: the same, and where the result is below 0, 0;
//   where it is then above the attribute `most` (absent: infinity), that.
#pragma once

#include <limits>

#include "compiler/ops/conv_geometry/geometry.h"

namespace etch {

struct ConvParams {
  ConvGeometry geometry;
  bool relu = false;
  float most = std::numeric_limits<float>::infinity();
};

std::vector<Tensor> reference_conv(const Node& node, std::span<const Tensor* const> inputs);
void lower_conv(Lowering& lowering, const Node& node);

}  // namespace etch
