// Constant (ai.onnx, since 1): a tensor from exactly one of the attributes value (a tensor) and,
// from opset 12 on, value_float, value_floats, value_int, value_ints. Text and sparse values are
// refused.
#pragma once

#include "compiler/ir/tensor.h"

namespace etch {

struct Constant {
  Tensor value;
};

}  // namespace etch
