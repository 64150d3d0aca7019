// Products of a value and a sigmoid of itself, as SiLU and Swish are exported, become one function
// that goes over memory once and needs no second buffer:
//   x Sigmoid(x)            QuickGelu (com.microsoft) with alpha 1
//   x Sigmoid(c x)          the same with alpha c, a constant of one element
//   x Tanh(Softplus(x))     Mish
// Floats of 32 bits alone, and where nothing else reads what is between. Exact: the functions are
// these products. Where DynamicQuantizeLinear reads the product it stays one, which finds the range
// on its way (fuse_expressions.h).
// Requires and keeps a resolved graph, but leaves dead values.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void fuse_swishes(Graph& graph);

}  // namespace etch
