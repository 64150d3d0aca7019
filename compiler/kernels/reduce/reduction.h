// Sums, means and extremes over some axes.
#pragma once

#include <vector>

#include "compiler/lower/lowering.h"
#include "templates/kernels/reduce/reduction.h"

namespace etch {

// Reduces input 0 of `node` over the axes d with reduced[d]; output 0 has the other axes in order,
// with or without ones in between.
// `in_order`: sums of floats have one partial sum, else 16.
void add_reduction(Lowering& lowering, const Node& node, ReducePlan::Kind kind,
                   const std::vector<bool>& reduced, bool in_order);

}  // namespace etch
