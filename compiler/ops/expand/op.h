// Expand (ai.onnx, since 8): numpy broadcast of input 0 with the constant shape in input 1. The
// broadcast goes both ways: a size 1 in `shape` keeps the input's size.
// Resolved struct: StridedCopy (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
