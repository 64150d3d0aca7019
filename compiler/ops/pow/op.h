// Pow (ai.onnx, since 7): z = x^y elementwise with numpy broadcasting.
//   inputs  X float32; Y float32, or int32 or int64 when constant
// As IEEE 754's pow(), within 1e-6 of the truth (runtime/etch_functions.h). One exponent for all
// that is 2 or 3 multiplies instead, as ONNX Runtime does: fl(x * x), fl(fl(x * x) * x).
#pragma once

#include "compiler/ir/geometry/strided.h"
#include "templates/kernels/rows/function.h"

namespace etch {

struct Pow {
  Shape shape;  // of the output
  StridedView x, y;
  std::optional<float> exponent;       // the one constant exponent
  Function function = Function::kPow;  // of x, given that exponent
};

}  // namespace etch
