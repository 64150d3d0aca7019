// See strict_integer.h.
#include "compiler/steps/strict_integer.h"

#include <algorithm>
#include <string_view>

#include "compiler/base/text.h"
#include "compiler/stage/audit.h"
#include "compiler/steps/requantization.h"

namespace etch {

namespace {

// Functions of the runtime that compute with floats; the verbs that do all come with one of type
// F32, which their names say.
constexpr std::string_view kFloatFunctions[] = {
    "qlinear_conv", "qlinear_matmul",  "quantize_row",  "dequantize_row", "dynamic_range",
    "quantize_v2",  "quantize_v2_end", "dequantize_v2", "qlinear_softmax"};

bool uses_floats(const Program& program, const Step& step) {
  const AuditResult result = audit(step, program.isa, extents_of(program, step));
  return std::any_of(result.executions.begin(), result.executions.end(), [](const auto& each) {
    const std::string_view verb = each.first;
    return verb.find("f32") != std::string_view::npos ||
           std::find(std::begin(kFloatFunctions), std::end(kFloatFunctions), verb) !=
               std::end(kFloatFunctions);
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

}  // namespace etch
