// Add, Sub, Mul, Div (ai.onnx, since 7) of two inputs, Max, Min and Sum (since 8) of one or more,
// from the left: elementwise with numpy broadcasting, on float32, int32 and int64 (Sum: float32).
// All inputs have one element type. Float operations round once; NaN, infinities and division by 0
// as IEEE 754 says. Integer sums and products wrap; integer division truncates, a constant divisor
// 0 is refused, one at run time gives 0. A NaN is both largest and smallest.
#pragma once

#include "compiler/ops/strided.h"

namespace etch {

struct Arithmetic {
  enum class Kind { kAdd, kSub, kMul, kDiv, kMax, kMin };
  Kind kind = Kind::kAdd;
  Shape shape;                      // of the output
  std::vector<StridedView> inputs;  // broadcast to `shape`
};

}  // namespace etch
