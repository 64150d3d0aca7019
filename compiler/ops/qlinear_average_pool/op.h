// QLinearAveragePool (com.microsoft, since 1): the mean of each window of an 8-bit image.
//   inputs             X, x_scale, x_zero_point, y_scale, y_zero_point
//   attributes         kernel_shape, strides, pads, auto_pad, ceil_mode, channels_last
//   count_include_pad  1: divides by the full kernel size, also where a window hangs over the edge
// Arithmetic (docs/spec/qlinear.md section 6.6): the elements fl(xs * (x - xz)) are summed in float
// in row-major order and divided by the count, then y = rne(fl(fl(v / ys) + yz)), clamped to the
// type before it is rounded. A single window over the whole image without padding is computed as
// QLinearGlobalAveragePool.
#pragma once

#include <optional>

#include "compiler/ops/average_pool/op.h"
#include "compiler/ops/qlinear_global_average_pool/op.h"

namespace etch {

struct QLinearAveragePool {
  DType dtype = DType::kU8;
  PoolGeometry geometry;
  CountPadding count_padding = CountPadding::kNo;
  ScalarQuantization x, y;
  std::optional<QLinearGlobalAveragePool> global;  // set: compute this instead
};

}  // namespace etch
