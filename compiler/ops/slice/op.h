// Slice (ai.onnx, since 1): elements start, start + step, ... up to, not including, end on some
// axes.
//   starts, ends, axes  attributes before opset 10, constant inputs 1, 2, 3 from then on
//   steps               constant input 4 (opset 10), not 0; default 1
//   axes                default: the first axes, as many as there are starts
// Negative starts and ends count from the axis' end. Then they are clamped: for step > 0 to
// [0, size]; for step < 0 start to [0, size - 1] and end to [-1, size - 1].
// Resolved struct: StridedCopy (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
