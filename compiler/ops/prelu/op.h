// PRelu (ai.onnx, since 7): y = x where x >= 0, else fl(slope * x), on float32. The slope
// broadcasts to x and never the other way round; it may be known at run time only. NaN stays NaN.
#pragma once

#include "compiler/ir/geometry/strided.h"

namespace etch {

struct PRelu {
  Shape shape;        // of x and of the output
  StridedView slope;  // broadcast to `shape`
};

}  // namespace etch
