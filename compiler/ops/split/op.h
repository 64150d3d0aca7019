// Split (ai.onnx, since 2): cuts input 0 along `axis` (default 0) into as many parts as the node
// has outputs.
//   split        sizes of the parts: an attribute before opset 13, constant input 1 from then on;
//                they add up to the axis. Without it the parts are equal.
//   num_outputs  (opset 18) equals the number of outputs; then the last part may be smaller.
#pragma once

#include "compiler/ir/geometry/strided.h"

namespace etch {

struct Split {
  std::vector<StridedCopy> parts;  // one per output
};

}  // namespace etch
