// Runs a resolved graph with the operators' reference functions: slow, and the yardstick that
// generated code is compared with.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

// The graph's outputs, in order. `inputs` has one tensor per graph input, in order, of the declared
// element type and shape. Every node must be resolved and have a reference function.
std::vector<Tensor> evaluate(const Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace etch
