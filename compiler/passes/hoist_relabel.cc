// Exchange of QuantizeLinear and a following relabelling; see hoist_relabel.h.
#include "compiler/passes/hoist_relabel.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/ops/quantize_linear/op.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

bool is_relabel(const Node& node) {
  return node.op != nullptr && node.op->layout != nullptr &&
         node.op->layout(node) == LayoutRule::kRelabel;
}

// Per tensor, so that it does not matter which element is where.
bool is_plain_quantize(const Node& node) {
  const auto* params = std::any_cast<QuantizeLinearParams>(&node.params);
  return params != nullptr && params->axis.granularity == QuantizationGranularity::kTensor;
}

bool is_output(const Graph& graph, ValueId id) {
  return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
}

// Quantize at `first` feeds only the relabelling at `second`: exchanges what they do.
void exchange(Graph& graph, std::size_t first, std::size_t second, Sink& sink) {
  Node quantize = std::move(graph.nodes[first]);
  Node relabel = std::move(graph.nodes[second]);
  Value between = graph.value(relabel.outputs[0]);
  between.dtype = graph.value(quantize.inputs[0]).dtype;
  const ValueId moved = graph.add_value(std::move(between));
  relabel.inputs[0] = quantize.inputs[0];
  quantize.inputs[0] = moved;
  quantize.outputs[0] = std::exchange(relabel.outputs[0], moved);
  graph.nodes[first] = std::move(relabel);
  graph.nodes[second] = std::move(quantize);
  resolve_node(graph, graph.nodes[first], sink);
  resolve_node(graph, graph.nodes[second], sink);
}

}  // namespace

void hoist_relabel(Graph& graph, Sink& sink) {
  std::vector<int> producers = producers_of(graph);
  std::vector<std::vector<int>> consumers = consumers_of(graph);
  for (std::size_t second = 0; second < graph.nodes.size(); ++second) {
    const Node& relabel = graph.nodes[second];
    if (!is_relabel(relabel)) continue;
    const auto from = static_cast<std::size_t>(relabel.inputs[0]);
    const int first = producers[from];
    if (first < 0 || consumers[from].size() != 1 || is_output(graph, relabel.inputs[0])) continue;
    if (!is_plain_quantize(graph.nodes[static_cast<std::size_t>(first)])) continue;
    graph.fusions.forget(relabel);  // it works on the type of the input again
    exchange(graph, static_cast<std::size_t>(first), second, sink);
    producers = producers_of(graph);
    consumers = consumers_of(graph);
  }
}

}  // namespace etch
