// Arithmetic on constants of float64: exporters compute roots and reciprocals of sizes there. It is
// done when compiling, in float64, as ONNX Runtime does: each of these operations is rounded once
// by IEEE 754, so that every machine gives the same. Part of resolving.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// Makes the output of an Add, Sub, Mul, Div, Sqrt, Reciprocal, Neg, Abs, Floor or Ceil of ai.onnx a
// constant, if all inputs are constants of float64 and it is small. False: nothing is changed.
bool fold_doubles(Graph& graph, const Node& node);

}  // namespace etch
