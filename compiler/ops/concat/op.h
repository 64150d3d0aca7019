// Concat (ai.onnx, since 4): the inputs one after the other along `axis` (required; negative from
// opset 11). One element type; the other axes equal.
#pragma once

#include <cstdint>

#include "compiler/ir/tensor.h"

namespace etch {

struct Concat {
  std::int64_t axis = 0;  // in [0, rank)
  Shape shape;            // of the output
};

}  // namespace etch
