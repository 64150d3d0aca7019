// Names of the model where generated code may show them; see parts.h. They pass through
// shown_name() and is_usable_parameter() of text/names.h, or are left out.
#include <algorithm>
#include <set>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"
#include "compiler/text/names.h"

namespace etch {

namespace {

// The layers of one function that are named; there may be thousands.
constexpr std::size_t kMostLayers = 8;

bool is_taken(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Names in the body of a run() that has a state: "state" itself, "state0", "next0".
bool is_of_state(std::string_view name) {
  return name.substr(0, 5) == "state" || name.substr(0, 4) == "next";
}

struct Pointer {
  std::string type;
  std::string name;
};

// What steps are given, or those of them that run() is.
std::vector<Pointer> pointers_of(const Program& program, bool with_state) {
  const std::vector<std::string> names = port_parameters(program);
  std::vector<Pointer> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_input = i < program.inputs.size();
    const Port& port = is_input ? program.inputs[i] : program.outputs[i - program.inputs.size()];
    if (with_state || !is_state(port))
      out.push_back({pointer_type(port.dtype, is_input), names[i]});
  }
  out.push_back({"void*", "arena"});
  return out;
}

std::string parameters_text(const std::vector<Pointer>& pointers) {
  std::string out;
  for (const auto& [type, name] : pointers) out += cat(out.empty() ? "" : ", ", type, " ", name);
  return out;
}

std::string arguments_text(const std::vector<Pointer>& pointers) {
  std::string out;
  for (const auto& [type, name] : pointers) out += cat(out.empty() ? "" : ", ", name);
  return out;
}

}  // namespace

std::vector<std::string> port_parameters(const Program& program) {
  std::vector<std::string> out;
  std::set<std::string> taken;
  const bool has_state = !state_of(program).empty();
  const bool has_sizes = bound_of(program) != nullptr;  // "size" is a variable in run() then
  for (const auto* ports : {&program.inputs, &program.outputs}) {
    for (const Port& port : *ports) {
      const bool usable = is_usable_parameter(port.name) && !taken.contains(port.name) &&
                          !(has_sizes && port.name == "size") &&
                          !(has_state && (is_state(port) || is_of_state(port.name)));
      out.push_back(usable ? port.name : port.identifier);
      taken.insert(out.back());
    }
  }
  return out;
}

std::string run_parameters(const Program& program, std::string_view state) {
  const std::string size = size_parameter(program);
  return cat(state_of(program).empty() ? "" : state, parameters_text(pointers_of(program, false)),
             size.empty() ? "" : ", size_t ", size);
}

std::string run_arguments(const Program& program, std::string_view state) {
  const std::string size = size_parameter(program);
  return cat(state_of(program).empty() ? "" : state, arguments_text(pointers_of(program, false)),
             size.empty() ? "" : ", ", size);
}

std::string pointer_parameters(const Program& program) {
  return parameters_text(pointers_of(program, true));
}

std::string pointer_arguments(const Program& program) {
  return arguments_text(pointers_of(program, true));
}

std::string layer_of(const Step& step) {
  const std::string_view name = shown_name(step.node_name);
  return cat(step.op_type, name.empty() ? "" : " ", name,
             step.node < 0 ? std::string() : cat(" (node ", step.node, ")"));
}

std::vector<std::string> layer_comments(const Program& program, const Step& step) {
  std::vector<std::string> out;
  for (const auto& other : program.steps) {
    if (other->called() != step.name || other->origin.empty()) continue;
    const std::string line = cat("// Layer: ", layer_of(*other));
    if (is_taken(out, line)) continue;
    if (out.size() == kMostLayers) {
      out.emplace_back("// and others");
      break;
    }
    out.push_back(line);
  }
  return out;
}

}  // namespace etch
