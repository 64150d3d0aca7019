// See states.h.
#include "compiler/passes/states.h"

#include <algorithm>

#include "compiler/base/closest.h"
#include "compiler/base/text.h"

namespace etch {

namespace {

std::string place_of(const StateRequest& request) {
  return cat("state '", printable(request.output), "=", printable(request.input), "'");
}

// The position of the name among the ports, or null with a report.
std::optional<std::size_t> find_port(const Graph& graph, const std::vector<ValueId>& ports,
                                     const std::string& name, const char* role,
                                     const StateRequest& request, Sink& sink) {
  std::vector<std::string> names;
  names.reserve(ports.size());
  for (const ValueId id : ports) names.push_back(graph.value(id).name);
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  sink.error(DiagKind::kName, place_of(request),
             cat("the model has no ", role, " '", printable(name), "'", did_you_mean(name, names)));
  return std::nullopt;
}

bool check_alike(const Value& output, const Value& input, const StateRequest& request, Sink& sink) {
  if (output.dtype != input.dtype) {
    sink.error(
        DiagKind::kType, place_of(request),
        cat("the output is ", name_of(*output.dtype), ", the input ", name_of(*input.dtype)));
    return false;
  }
  if (output.shape == input.shape) return true;
  sink.error(DiagKind::kShape, place_of(request),
             cat("the output has the shape ", to_string(*output.shape), ", the input ",
                 to_string(*input.shape)));
  return false;
}

bool check_initial(const std::string& name, const Tensor& initial, const Value& input, Sink& sink) {
  const bool same_type = initial.dtype() == *input.dtype;
  if (same_type && initial.shape() == *input.shape) return true;
  sink.error(
      same_type ? DiagKind::kShape : DiagKind::kType, cat("initial state '", printable(name), "'"),
      cat("is ", name_of(initial.dtype()), " ", to_string(initial.shape()), ", but the state is ",
          name_of(*input.dtype), " ", to_string(*input.shape), ": both must be the same"));
  return false;
}

// Gives the links what they begin with.
void add_initial(const Graph& graph, const std::map<std::string, Tensor>& initial,
                 std::vector<StateLink>& links, Sink& sink) {
  for (const auto& each : initial) {
    const std::string& name = each.first;  // a binding cannot be captured, says clang++ 14
    const Tensor& tensor = each.second;
    std::vector<std::string> states;
    bool found = false;
    for (StateLink& link : links) {
      const Value& input = graph.value(graph.inputs[link.input]);
      states.push_back(input.name);
      if (input.name != name) continue;
      found = true;
      if (check_initial(name, tensor, input, sink))
        link.initial = std::make_shared<const Tensor>(tensor);
    }
    if (found) continue;
    const bool is_input =
        std::ranges::any_of(graph.inputs, [&](ValueId id) { return graph.value(id).name == name; });
    sink.error(DiagKind::kName, cat("initial state '", printable(name), "'"),
               is_input || links.empty()
                   ? cat("is the input of no state: --state OUT=", printable(name),
                         " says which output is its next value")
                   : cat("no state has an input of this name", did_you_mean(name, states)));
  }
}

// Whether an earlier request has the output or the input; reports it.
bool is_doubled(const std::vector<StateLink>& links, const StateLink& link,
                const StateRequest& request, Sink& sink) {
  for (const StateLink& earlier : links) {
    if (earlier.output != link.output && earlier.input != link.input) continue;
    sink.error(DiagKind::kName, place_of(request),
               cat("the ", earlier.output == link.output ? "output" : "input",
                   " is the state of another pair already"));
    return true;
  }
  return false;
}

}  // namespace

std::optional<StateRequest> parse_state(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return std::nullopt;
  }
  return StateRequest{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::optional<std::vector<StateRequest>> parse_states(std::string_view text) {
  std::vector<StateRequest> out;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::optional<StateRequest> request = parse_state(text.substr(0, comma));
    if (!request) return std::nullopt;
    out.push_back(std::move(*request));
    if (comma == text.size()) return out;
    text.remove_prefix(comma + 1);
  }
}

std::vector<StateLink> link_states(const Graph& graph, const std::vector<StateRequest>& requests,
                                   const std::map<std::string, Tensor>& initial, Sink& sink) {
  std::vector<StateLink> links;
  for (const StateRequest& request : requests) {
    const auto output = find_port(graph, graph.outputs, request.output, "output", request, sink);
    const auto input = find_port(graph, graph.inputs, request.input, "input", request, sink);
    if (!output || !input) continue;
    const StateLink link{*output, *input, nullptr};
    if (is_doubled(links, link, request, sink)) continue;
    if (!check_alike(graph.value(graph.outputs[*output]), graph.value(graph.inputs[*input]),
                     request, sink)) {
      continue;
    }
    links.push_back(link);
  }
  // Without one of them, what is said of the others could be wrong.
  if (links.size() == requests.size()) add_initial(graph, initial, links, sink);
  return links;
}

}  // namespace etch
