// ConstantOfShape (ai.onnx, since 9): a tensor of the shape in input 0 (an int64 list known at
// compile time), filled with the one element of the attribute `value` (default: float32 0).
#pragma once

#include "compiler/ir/tensor.h"

namespace etch {

struct ConstantOfShape {
  Tensor value;  // one element
  Shape shape;   // of the output
};

}  // namespace etch
