// Dropout (ai.onnx, since 7) as inference has it: y = x, of any element type, and the optional
// second output, the mask, all true (bool since 10, before in x's type). `ratio` and `seed` have no
// effect; training_mode (12) must be false.
// Resolved struct: Relabel (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
