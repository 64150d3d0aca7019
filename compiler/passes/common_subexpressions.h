// Common subexpressions: of nodes that compute the same from the same values, the first stays. A
// transformer that quantizes one tensor for queries, keys and values does so once then.
//
// Equal are nodes of one operator with equal attributes whose inputs are the same values or equal
// constants. Kept apart are DequantizeLinear, which later passes take as a part of what reads it,
// and nodes that give the graph an output. Requires and keeps a resolved graph in which what a node
// computes follows from its attributes and inputs; nodes of org.etch are not looked at.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void merge_common_subexpressions(Graph& graph);

}  // namespace etch
