// Tile (ai.onnx, since 6): the tensor repeated along each axis.
//   repeats  int64 list, known at compile time, one >= 0 per axis
#pragma once

#include "compiler/ir/tensor.h"

namespace etch {

struct Tile {
  Shape from;   // of the input
  Shape shape;  // of the output: a multiple of it
};

}  // namespace etch
