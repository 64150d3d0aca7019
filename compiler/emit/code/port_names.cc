// Names of the model where generated code may show them; see parts.h. They pass through
// shown_name() and is_usable_parameter() of text/names.h, or are left out.
#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/text/names.h"

namespace etch {

namespace {

// The layers of one function that are named; there may be thousands.
constexpr std::size_t kMostLayers = 8;

bool is_taken(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> port_parameters(const Program& program) {
  std::vector<std::string> out;
  for (const auto* ports : {&program.inputs, &program.outputs}) {
    for (const Port& port : *ports) {
      const bool usable = is_usable_parameter(port.name) && !is_taken(out, port.name);
      out.push_back(usable ? port.name : port.identifier);
    }
  }
  return out;
}

std::string run_parameters(const Program& program) {
  const std::vector<std::string> names = port_parameters(program);
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_input = i < program.inputs.size();
    const Port& port = is_input ? program.inputs[i] : program.outputs[i - program.inputs.size()];
    out += cat(pointer_type(port.dtype, is_input), " ", names[i], ", ");
  }
  return out + "void* arena";
}

std::string run_arguments(const Program& program) {
  std::string out;
  for (const std::string& name : port_parameters(program)) out += name + ", ";
  return out + "arena";
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
