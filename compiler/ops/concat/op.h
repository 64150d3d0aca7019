// Concat (ai.onnx, since 4): the inputs one after the other along `axis` (required; negative from
// opset 11). One element type; the other axes equal.
//
// OutputShape (org.etch) is the same, and says that the result is the shape of the network's output
// number `output` at run time (passes/counted_rows).
#pragma once

#include <cstdint>

#include "compiler/ir/tensor.h"

namespace etch {

struct Concat {
  std::int64_t axis = 0;  // in [0, rank)
  Shape shape;            // of the output
};

}  // namespace etch
