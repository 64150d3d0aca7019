// See strict_integer.h.
#include "compiler/lower/strict_integer.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/program/requantization.h"
#include "compiler/stage/audit.h"

namespace etch {

namespace {

constexpr std::string_view kVerbs[] = {
#define ETCH_VERB(Result, id, reads, writes) #id,
#define ETCH_UPDATE(id, reads, writes) #id,
#define ETCH_ACTION(id, reads, writes) #id,
#include "templates/verbs.def"
#undef ETCH_VERB
#undef ETCH_UPDATE
#undef ETCH_ACTION
};

// The functions of the runtime that have no floats, whatever type they are called for.
constexpr std::string_view kIntegerFunctions[] = {
    "add_bytes", "assembly",   "choose", "conv_integer",   "fill",    "fold_zero_point",
    "gather",    "gather_row", "lookup", "matmul_integer", "max_pool"};

// Functions whose name says the type of their elements: "top_k<rt::Above, uint8_t>".
bool has_integer_elements(std::string_view name) {
  return name.ends_with(", uint8_t>") || name.ends_with(", int32_t>") ||
         name.ends_with(", int64_t>");
}

bool is_one_of(std::string_view name, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Steps that use verbs on floats have one of type F32, which its name says.
bool uses_floats(const Program& program, const Step& step) {
  const AuditResult result = audit(step, program.isa, extents_of(program, step));
  return std::any_of(result.executions.begin(), result.executions.end(), [](const auto& each) {
    const std::string_view name = each.first;
    if (is_one_of(name, kVerbs)) return name.find("f32") != std::string_view::npos;
    return !is_one_of(name, kIntegerFunctions) && !has_integer_elements(name);
  });
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
  const auto refuse = [&](const Node& node, std::string what) {
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

}  // namespace etch
