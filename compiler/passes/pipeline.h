// The order of the passes between the importer and lowering, in one place.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

// Runs every pass. Prints the graph to stderr after the one named `dump_after`. Stops when a pass
// has reported an error.
void run_passes(Graph& graph, Sink& sink, const std::string& dump_after);

}  // namespace etch
