// An If whose condition is computed at run time as nodes of one list: each branch is a region that
// runs or does not. Part of resolving: nothing in the branches is resolved yet.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

// The nodes that stand for `node`, which has two branches, in order: that of number `first` before
// the other. They give its outputs.
std::vector<Node> both_branches(Graph& graph, Node node, int first);

}  // namespace etch
