// Transpose (ai.onnx, since 1): axis i of the output is axis perm[i] of the input. Any element
// type.
//   perm  a permutation of the axes; by default they are reversed
// Resolved struct: StridedCopy (compiler/ir/geometry/strided.h).
#pragma once

#include "compiler/ir/geometry/strided.h"
