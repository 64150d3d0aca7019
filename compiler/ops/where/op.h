// Where (ai.onnx, since 9): an element of X where `condition` (bool) holds, else one of Y; numpy
// broadcasting of all three.
//   inputs  condition, X, Y; X and Y of one type
#pragma once

#include "compiler/ir/tensor.h"

namespace etch {

struct Where {
  Shape shape;  // of the output
};

}  // namespace etch
