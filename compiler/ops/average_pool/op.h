// AveragePool (ai.onnx, since 7): the mean of each window of a float32 image.
//   attributes         kernel_shape, strides, pads, auto_pad; ceil_mode from opset 10 on, dilations
//                      from opset 19 on
//   count_include_pad  0: divides by the number of elements inside the image; 1: also counts those
//                      in the padding that `pads` asks for, but not what ceil_mode adds after it
// The elements are summed one by one in row-major order, then divided.
#pragma once

#include "compiler/ops/pool_geometry/geometry.h"

namespace etch {

enum class CountPadding { kNo, kYes };

struct AveragePool {
  PoolGeometry geometry;
  CountPadding count_padding = CountPadding::kNo;
};

}  // namespace etch
