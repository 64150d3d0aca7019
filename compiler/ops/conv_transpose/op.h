// ConvTranspose: float transposed convolution in one to three spatial dimensions.
//
//   ai.onnx ConvTranspose (1, 11, 22): x [N, C, in...], w [C, M/group, kernel...], optional B
//   [M]; all float32. y [N, M, out...]. Output sizes, output_shape, output_padding and the
//   split of automatic pads: conv_geometry/geometry.h.
//
// Input position i adds x * w through kernel position j to output i * stride + j * dilation -
// pad_begin. Seen from one output the sum runs over kernel positions in row-major order, then
// input channels, starts at 0, is kept in float32 with every step rounded; the bias comes last.
// Outputs that no input reaches hold the bias alone.
#pragma once

#include "compiler/ops/conv_geometry/geometry.h"

namespace etch {

struct ConvTransposeParams {
  ConvGeometry geometry;
};

std::vector<Tensor> reference_conv_transpose(const Node& node,
                                             std::span<const Tensor* const> inputs);
void lower_conv_transpose(Lowering& lowering, const Node& node);

}  // namespace etch
