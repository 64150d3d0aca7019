// The step of NonMaxSuppression with a fixed number of rows.
#pragma once

#include "compiler/lower/lowering.h"
#include "templates/kernels/select/non_max.h"

namespace etch {

// Input 0 is boxes, input 1 scores; input `filler` of the node, or `rows` times `absent`, fills the
// rows of output 0 that have no box. Everything else is in `plan`.
void add_non_max(Lowering& lowering, const Node& node, NonMaxPlan plan, int filler,
                 const Tensor& absent);

}  // namespace etch
