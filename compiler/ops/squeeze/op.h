// Squeeze (ai.onnx, since 1): drops axes of size 1.
//   axes  which ones: an attribute before opset 13, a constant input from then on; without it all
//         axes of size 1. Negative axes count from the end.
// Resolved struct: Relabel (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
