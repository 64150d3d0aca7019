// Fuses trees of elementwise operators into Expression nodes (compiler/ops/expression/op.h): one
// pass over memory, with values between them in registers.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// Requires resolved nodes; to be run when operators are those that will be lowered. An operator
// joins the one that reads its result if no other operator outside the tree does, nor the graph,
// and if the result has as many elements as the tree's, or one, so that nothing is computed more
// often than before. Exact by construction.
// With `ranges`, scale and zero point of a DynamicQuantizeLinear come from the expression before
// it, which cannot be divided among threads then.
void fuse_expressions(Graph& graph, bool ranges);

}  // namespace etch
