// QLinearConv: 8-bit convolution requantized to 8 bits.
//
//   ai.onnx QLinearConv (10) and com.microsoft QLinearConv (1; channels_last = 1 puts channels
//   last in x and y) and com.ms.internal.nhwc QLinearConv (channels always last). org.etch
//   QLinearConv (1) is com.microsoft's with a fused activation: attributes clamp_low and
//   clamp_high, integers of y's type, low <= high; y = min(max(y, clamp_low), clamp_high).
//   Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B.
//   x, w and y are u8 or s8 in any of the 8 mixes; y has y_zero_point's type. Scales of x and y
//   and their zero points hold one value; w_scale and w_zero_point one or M, each on its own.
//   w is always [M, C/group, kernel...]; B is s32 [M] or absent. Shapes: conv_geometry.
//
// docs/spec/products.md section 5.1, per output channel m, all float steps in float32:
//   A = B[m] + sum of (x - x_zero_point) * (w - w_zero_point[m])     modulo 2^32
//   S = fl(fl(x_scale * w_scale[m]) / y_scale)
//   y = round_half_even(clamp(fl(fl(A) * S), to what fits)) + y_zero_point, then the limits
// Padding holds x_zero_point and so contributes 0.
#pragma once

#include <optional>

#include "compiler/ops/conv_geometry/geometry.h"
#include "compiler/ops/quantization.h"

namespace etch {

// Serves the transposed operator too. A quantization is absent when one of its tensors is known
// only at run time; when all are present their combined scales are finite and not 0.
struct QLinearConvParams {
  ConvGeometry geometry;
  std::optional<Quantization> x;  // per tensor
  std::optional<Quantization> w;  // per tensor or per output channel
  std::optional<Quantization> y;  // per tensor
  int low = 0, high = 255;        // limits of y; those of its type when nothing is fused
};

// Checks inputs and attributes as above, for operators that have them among others. Absent after
// an error that leaves the geometry unknown.
std::optional<QLinearConvParams> resolve_qlinear_conv_inputs(ResolveContext& context,
                                                             ConvDirection direction,
                                                             ConvLayout layout);

// The attribute channels_last of com.microsoft.
ConvLayout read_channels_last(ResolveContext& context);

// Checks a node with the inputs above; shared with QLinearConvTranspose.
void resolve_qlinear_conv(ResolveContext& context, ConvDirection direction, ConvLayout layout);

std::vector<Tensor> reference_qlinear_conv(const Node& node, std::span<const Tensor* const> inputs);

// OpDef::reads and OpDef::writes of operators with QLinearConvParams.
std::optional<Quantization> qlinear_conv_reads(const Node& node);
std::optional<Quantization> qlinear_conv_writes(const Node& node);

// The same for the inputs above of another operator.
Tensor reference_qlinear_conv(const QLinearConvParams& params,
                              std::span<const Tensor* const> inputs);

}  // namespace etch
