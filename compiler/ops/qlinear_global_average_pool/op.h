// QLinearGlobalAveragePool (com.microsoft, since 1): the mean of each plane of an 8-bit image.
//   inputs         X, x_scale, x_zero_point, y_scale, y_zero_point
//   channels_last  1: X is [N, D1, ..., C]; 0 (default): [N, C, D1, ...]
// Arithmetic (docs/spec/qlinear.md section 6.5): A = sum(x) - zp * HW in int32,
// S = fl(xs / fl(ys * HW)), requantized as docs/spec/requantization.md section 3.1 says. Refused as
// ONNX Runtime does: S < 2^-32, S >= 256, HW >= 2^24.
#pragma once

#include "compiler/ops/conv_geometry/geometry.h"
#include "compiler/ops/scalar_quantization.h"

namespace etch {

struct QLinearGlobalAveragePool {
  DType dtype = DType::kU8;
  ConvLayout layout = ConvLayout::kChannelsFirst;
  std::int64_t batch = 1, channels = 1;
  std::int64_t plane = 1;  // HW, >= 1
  std::int32_t x_zero_point = 0, y_zero_point = 0;
  float scale = 1.0F;  // S
  Shape shape;         // of the output
};

// S for planes of `plane` elements; reports E-QUANT or E-LIMIT when it is outside the limits.
float global_average_scale(ResolveContext& context, const ScalarQuantization& x,
                           const ScalarQuantization& y, std::int64_t plane);

// The computation; QLinearAveragePool over a whole image is the same.
Tensor global_average(const QLinearGlobalAveragePool& params, const Tensor& x);

}  // namespace etch
