// Sums, means and extremes over some axes.
#pragma once

#include <vector>

#include "compiler/lower/lowering.h"
#include "templates/kernels/reduce/reduction.h"

namespace etch {

// Reduces input 0 of `node` over the axes d with reduced[d]; output 0 has the other axes in order,
// with or without ones in between.
void add_reduction(Lowering& lowering, const Node& node, ReducePlan::Kind kind,
                   const std::vector<bool>& reduced);

}  // namespace etch
