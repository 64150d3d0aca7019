// Unsqueeze (ai.onnx, since 1): inserts axes of size 1.
//   axes  positions in the output's shape: a required attribute before opset 13, a constant input
//         from then on. Negative axes count from the output's end.
// Resolved struct: Relabel (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
