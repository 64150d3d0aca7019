// For --qdq all: ReduceMean over all positions of [N, C, positions...] between DequantizeLinear and
// QuantizeLinear becomes GlobalAveragePool, which has an integer form. It is the same real number
// with one rounding instead of one for each addition (docs/spec/qdq.md section 8.2), so it is done
// on request only (docs/decisions/0025).
//
// Requires and keeps a resolved graph.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// A resolved ReduceMean over all axes from 2 on of an input that has some.
bool is_mean_of_planes(const Node& node);

// Returns how many means became pools.
int pool_means(Graph& graph);

}  // namespace etch
