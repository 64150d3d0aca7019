// Identity (ai.onnx, since 1): the output is the input. Any element type.
// Resolved struct: Relabel (compiler/ops/strided.h).
#pragma once

#include "compiler/ops/strided.h"
