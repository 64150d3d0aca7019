// Resolve: makes an imported graph explicit, so that later code has nothing left to guess.
// An If becomes the branch that its condition, a constant by then, takes.
//
// Requires: a graph from import_model(). Ensures, when no error was reported: every node has an
// OpDef and resolved parameters; every value has a type and a static shape; constants are folded
// (except DequantizeLinear of a constant, see fold.h); dead nodes and values are gone; the order
// is still topological. Reports all faults it can find, going on after each; a node that depends
// on a faulty one is left alone.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

// Reports E-OP, E-VERSION, E-GRAPH (arity) and whatever the operators report. When the sink holds
// errors afterwards the graph must not be used, except to look at it.
void resolve(Graph& graph, Sink& sink);

// Resolves one node whose inputs are typed and shaped, for passes that add nodes: finds its OpDef
// unless it is set, fills in node.params and the outputs' types and shapes. True when it is good.
bool resolve_node(Graph& graph, Node& node, Sink& sink);

}  // namespace etch
