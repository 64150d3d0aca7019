// What loops and branches need no code for, found while a graph is resolved: loops that make no
// trip, and carried values and results without elements, which are known whatever they are computed
// from.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

// Takes what has no elements out of the beginning or end of a region, before it is resolved; the
// values become constants. What changes its type or shape stays, for the end's own rules to report.
void drop_empty(Graph& graph, Node& edge);

// Whether the end, which is resolved, is that of a loop without a trip.
bool makes_no_trip(const Node& end);

// Takes the loop of that end, which is not in the graph yet, out of it. Its slices become constants
// without elements; returned are nodes that hand on what the loop would have carried.
std::vector<Node> without_loop(Graph& graph, const Node& end);

}  // namespace etch
