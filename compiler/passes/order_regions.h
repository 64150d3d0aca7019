// Makes the nodes of every loop and branch follow each other, as lowering needs them.
// Requires: a resolved graph. Promises: between a region_begin and its region_end are exactly the
// nodes that depend on the beginning, in their order; all others that were there come before it, so
// that work which is the same in all trips is done once.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void order_regions(Graph& graph);

}  // namespace etch
