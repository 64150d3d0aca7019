// MaxPool (ai.onnx, since 1): the largest element of each window. Padding never wins.
//   types       float32; from opset 12 on also int8 and uint8; of org.etch, which passes make of
//               QDQ networks: int16 and uint16
//   attributes  kernel_shape, strides, pads, auto_pad; from opset 10 on ceil_mode and dilations
//   Indices     the second output is refused, so storage_order (opset 8) has no effect
// A window that holds no element (possible with dilations) gives the type's least finite value.
#pragma once

#include "compiler/ops/pool_geometry/geometry.h"

namespace etch {

struct MaxPool {
  PoolGeometry geometry;
};

}  // namespace etch
