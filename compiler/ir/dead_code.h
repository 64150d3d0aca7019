// Removes what no graph output depends on.
//
// Requires: topological order. Ensures: every node has an output that is needed and not a
// constant; every value is a graph input or output or used by a node. Graph inputs stay, used or
// not, because they are part of the interface. Values are renumbered: ids from before are void.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void remove_dead(Graph& graph);

}  // namespace etch
