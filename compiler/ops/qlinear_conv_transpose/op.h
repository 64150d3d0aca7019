// QLinearConvTranspose: 8-bit transposed convolution requantized to 8 bits.
//
//   com.ms.internal.nhwc QLinearConvTranspose (1): the inputs of QLinearConv. x [N, in..., C] and
//   y [N, out..., M] are channels-last, w stays [C, M/group, kernel...] (docs/spec/shapes.md
//   section 4.6). Output channel m = g * (M/group) + j with j along w's axis 1; w_scale,
//   w_zero_point and B count in that order. The output shape is not inferred by anyone else:
//   docs/spec/shapes.md section 4.3, conv_geometry/geometry.h.
//
// A[m, o] = B[m] + sum of (x - x_zero_point) * (w - w_zero_point[m]) over the inputs and kernel
// positions that meet at o; then requantization as in QLinearConv. Outputs that no input reaches
// hold the requantized bias.
#pragma once

#include "compiler/ops/qlinear_conv/op.h"

namespace etch {

// params: QLinearConvParams with direction kTransposed and layout kChannelsLast.
std::vector<Tensor> reference_qlinear_conv_transpose(const Node& node,
                                                     std::span<const Tensor* const> inputs);

}  // namespace etch
