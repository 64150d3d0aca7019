// Reshape (ai.onnx, since 5): the same elements in the same order under another shape.
//   inputs   data: any type; shape: int64 list, known at compile time
//   size 0   takes the size that `data` has on that axis; with allowzero = 1 (opset 14) it means 0
//   size -1  at most once: what is left of the element count. Not together with a 0 that means 0.
// Resolved struct: Relabel (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
