// Flatten (ai.onnx, since 1): a matrix whose rows run over the axes before `axis` (default 1) and
// whose columns run over the rest. axis in [0, rank]; from opset 11 on in [-rank, rank].
// Resolved struct: Relabel (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
