// ReduceMean (ai.onnx, since 1): the mean over some axes of a float32 tensor.
//   axes                  an attribute before opset 18, constant input 1 from then on; absent or
//   empty:
//                         all axes
//   keepdims              1 (default): reduced axes stay with size 1
//   noop_with_empty_axes  (opset 18) 1: no axes means that nothing is reduced
// The elements are summed in row-major order, then divided by their number.
#pragma once

#include <cstdint>

#include "compiler/ops/strided.h"

namespace etch {

struct ReduceMean {
  Shape shape;            // of the output
  Shape kept, reduced;    // sizes of the input's axes that stay, and of those that go
  StridedView kept_view;  // input element of (kept axes..., 0)
  StridedView reduced_view;
};

}  // namespace etch
