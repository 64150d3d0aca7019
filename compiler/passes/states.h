// Which outputs of one inference are inputs of the next, as the user or the file says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

// What --state says, by names of the model.
struct StateRequest {
  std::string output;
  std::string input;
};

// Positions among Graph::outputs and Graph::inputs.
struct StateLink {
  std::size_t output = 0;
  std::size_t input = 0;
};

// "OUT=IN", both not empty; the last '=' separates. Null if malformed.
std::optional<StateRequest> parse_state(std::string_view text);
// The same with commas between, as models have it in their metadata.
std::optional<std::vector<StateRequest>> parse_states(std::string_view text);

// The links of a resolved graph. E-NAME: there is no such output or input, or it is named twice.
// E-TYPE, E-SHAPE: the two differ.
std::vector<StateLink> link_states(const Graph& graph, const std::vector<StateRequest>& requests,
                                   Sink& sink);

}  // namespace etch
