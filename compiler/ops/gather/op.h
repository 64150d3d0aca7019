// Gather (ai.onnx, since 1): slices of `data` along `axis` (default 0), picked by `indices`.
//   output shape  data's, with the axis replaced by the shape of indices
//   indices       int32 or int64, in [-size, size - 1]; negative ones count from the end. Constant
//                 ones outside are reported; at run time they are clamped to the nearest slice.
#pragma once

#include <cstdint>

#include "compiler/ir/tensor.h"

namespace etch {

struct Gather {
  std::size_t axis = 0;
  std::int64_t outer = 1;  // product of the sizes before the axis
  std::int64_t size = 1;   // of the axis, >= 1 unless there are no indices
  std::int64_t inner = 1;  // product of the sizes after the axis
  Shape shape;             // of the output
};

}  // namespace etch
