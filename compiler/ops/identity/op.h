// Identity (ai.onnx, since 1): the output is the input. Any element type.
// Resolved struct: Relabel (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
