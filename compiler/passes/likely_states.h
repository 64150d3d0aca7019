// Which outputs of a network are, by their names and shapes, the next values of its inputs: a hint
// for those who do not know --state. Nothing is computed differently for it.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/passes/states.h"

namespace etch {

// Pairs of one type and shape whose names differ only in words such as "in", "out", "next" or in an
// n or a 0 at the end: state and stateN, h0 and hn, cache_in and cache_out, input_2 and output_2.
// Empty where a pair is not unique, or where no input or no output would be left: a network that
// makes an image of an image keeps no state.
std::vector<StateRequest> likely_states(const Graph& graph);

}  // namespace etch
