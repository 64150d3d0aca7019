// NonMaxSuppression gives as many rows as there are boxes, which no compiled network can. Networks
// for devices append rows to it and keep the first of both, as many as they always need:
//   Slice(Concat(NonMaxSuppression(...), rows), 0, n)
// These three become FilledNonMaxSuppression of org.etch (ops/non_max_suppression), whose shape is
// known; so does one whose number of rows the file declares. Part of resolving: nothing has a shape
// yet, and that operator checks what the rest needs.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

// `nodes` are all nodes of the graph, in order.
void fix_box_counts(Graph& graph, std::vector<Node>& nodes);

}  // namespace etch
