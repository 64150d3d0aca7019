// Shape (ai.onnx, since 1): the sizes of the input as an int64 list. Every shape is known at
// compile time, so this is a constant.
//   start, end  (opset 15) the part of the list; negative ones count from the end; both are
//               clamped to [0, rank]. Default: the whole list.
#pragma once

#include "compiler/ir/tensor.h"

namespace etch {

struct ShapeOf {
  Shape sizes;  // the elements of the output
};

}  // namespace etch
