// Which input of the model decides a value, for diagnostics that say what to give as a constant.
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace etch {

// The one input that the value `id` is computed from, where it has at most `most_elements`; `id`
// itself where it is an input. kNoValue: there is none, several, or a larger one.
ValueId only_input_of(const Graph& graph, ValueId id, std::int64_t most_elements);

}  // namespace etch
