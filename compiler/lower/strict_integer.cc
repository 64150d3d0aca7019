// See strict_integer.h.
#include "compiler/lower/strict_integer.h"

#include <algorithm>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/program/requantization.h"
#include "compiler/stage/audit.h"

namespace etch {

namespace {

bool uses_floats(const Program& program, const Step& step) {
  return audit(step, program.isa, extents_of(program, step)).uses_floats;
}

bool is_float(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).dtype == DType::kF32;
}

// Whether the values that the node treats (not its scales) are floats before or after it.
bool has_float_values(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId id) { return is_float(graph, id); }) ||
         (!node.inputs.empty() && is_float(graph, node.inputs.front()));
}

}  // namespace

void refuse_floats(const Graph& graph, const Program& program, Sink& sink) {
  const auto refuse = [&](const Node& node, const std::string& what) {
    sink.report({Severity::kError, DiagKind::kUnsupported, node.index, location_of(node),
                 cat(what, ", which --strict-integer forbids")});
  };
  for (const Node& node : graph.nodes) {
    RungCounts counts;
    bool floats = false;
    for (const auto& step : program.steps) {
      if (step->node != node.index) continue;
      counts.add(count_rungs(*step));
      floats = floats || uses_floats(program, *step);
    }
    const int emulated = counts.of(Rung::kEmulation);
    if (emulated > 0) {
      refuse(node, cat(emulated, " of ", counts.total(),
                       " channels can only be requantized by emulating floats"));
    }
    if (floats && !has_float_values(graph, node))
      refuse(node, "is computed with floats even with --requantize integer");
  }
}

void warn_of_floats(const Graph& graph, const Program& program, Sink& sink) {
  std::vector<int> nodes;
  for (const auto& step : program.steps) {
    if (step->node >= 0 && uses_floats(program, *step)) nodes.push_back(step->node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.empty()) return;
  std::string first;
  for (const Node& node : graph.nodes) {
    if (node.index == nodes.front()) first = cat(": ", location_of(node));
  }
  sink.warning(DiagKind::kUnsupported, {},
               cat(program.isa.name, " has no FPU, and ", nodes.size(),
                   nodes.size() == 1 ? " node is" : " nodes are",
                   " computed with floats in software (exact, but slow)", first,
                   nodes.size() == 1 ? "" : " and others"));
}

bool needs_floats(const Program& program) {
  const auto asks = [&](const AssemblyFunction& function) {
    return function.condition.find(program.isa.float_macro) != std::string::npos;
  };
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const auto& step) {
    return std::any_of(step->assembly.begin(), step->assembly.end(), asks) ||
           uses_floats(program, *step);
  });
}

}  // namespace etch
