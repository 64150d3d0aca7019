// TopK (ai.onnx, since 1): the k largest or smallest elements along one axis, best first, and their
// positions, as int64. Float32, int32, int64 and 8-bit integers.
//   k        how many: attribute before opset 10, then input 1, which must be constant
//   axis     default -1
//   largest  (since 11) 1 (default): the largest, else the smallest
//   sorted   (since 11) 0 lets the results come in any order; they come sorted all the same
// Of equal elements (0 equals -0) the one with the lower position comes first. NaN comes after all
// numbers, largest or smallest. ONNX does not say where NaN belongs, and ONNX Runtime's answer,
// also for the numbers beside it, changes with k and the size of the axis.
#pragma once

#include <cstdint>

#include "compiler/ir/geometry/strided.h"

namespace etch {

struct TopK {
  enum class Kind { kLargest, kSmallest };
  Kind kind = Kind::kLargest;
  std::int64_t axis = 0;  // >= 0
  Shape shape;            // of both outputs; k along the axis
};

}  // namespace etch
