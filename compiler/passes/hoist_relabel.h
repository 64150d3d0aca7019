// Moves Reshape, Transpose and their like from after a QuantizeLinear to before it, so that the
// quantized tensor is written in the shape that its consumers see: then it can get the memory order
// and the halo that a convolution requests. Requires: resolved graph. Ensures: the same values
// reach every consumer.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

void hoist_relabel(Graph& graph, Sink& sink);

}  // namespace etch
