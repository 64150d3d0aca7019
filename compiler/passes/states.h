// Which outputs of one inference are inputs of the next, as the user or the file says.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
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
  std::shared_ptr<const Tensor> initial = nullptr;  // what the input begins with; null: zeros
};

// "OUT=IN", both not empty; the last '=' separates. Null if malformed.
std::optional<StateRequest> parse_state(std::string_view text);
// The same with commas between, as models have it in their metadata.
std::optional<std::vector<StateRequest>> parse_states(std::string_view text);

// The links of a resolved graph, with what they begin with by the input's name. E-NAME: there is no
// such output or input, or it is named twice; `initial` names no state. E-TYPE, E-SHAPE: the
// output, or what it begins with, is not what the input is.
std::vector<StateLink> link_states(const Graph& graph, const std::vector<StateRequest>& requests,
                                   const std::map<std::string, Tensor>& initial, Sink& sink);

}  // namespace etch
