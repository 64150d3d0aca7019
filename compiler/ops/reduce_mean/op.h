// ReduceMean, ReduceMax, ReduceMin (ai.onnx, since 1): the mean, largest or smallest element over
// some axes of a float32 tensor.
//   axes                  an attribute before opset 18, constant input 1 from then on; absent or
//   empty:
//                         all axes
//   keepdims              1 (default): reduced axes stay with size 1
//   noop_with_empty_axes  (opset 18) 1: no axes means that nothing is reduced
// Elements are taken in row-major order. The mean is their sum divided by their number; a NaN wins
// as largest or smallest only if it comes first.
#pragma once

#include <vector>

#include "compiler/ops/strided.h"

namespace etch {

struct Reduction {
  enum class Kind { kMean, kMax, kMin };
  Kind kind = Kind::kMean;
  Shape shape;            // of the output
  Shape kept, reduced;    // sizes of the input's axes that stay, and of those that go
  StridedView kept_view;  // input element of (kept axes..., 0)
  StridedView reduced_view;
  std::vector<bool> goes;  // per axis of the input
};

}  // namespace etch
