// GlobalAveragePool instead of ReduceMean; see pool_means.h.
#include "compiler/passes/pool_means.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ops/op.h"
#include "compiler/ops/reduce_mean/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {
constexpr std::ptrdiff_t kPositions = 2;  // the axes before are batch and channels

bool is_quantized_mean(const Graph& graph, const Wiring& wiring, const Node& node) {
  if (!is_mean_of_planes(node) || wiring.is_graph_output(node.outputs[0])) return false;
  const Node* before = wiring.producer(node.inputs[0]);
  const auto x = before == nullptr ? std::nullopt : dequantized_by(graph, *before);
  if (!x || !x->is_8bit_per_tensor()) return false;
  return std::ranges::all_of(wiring.consumers(node.outputs[0]), [&](int user) {
    return quantized_by(graph, graph.nodes[static_cast<std::size_t>(user)]).has_value();
  });
}

// `like` as another operator without attributes, between two values.
Node operator_like(const Node& like, const char* type, ValueId from, ValueId to) {
  Node node = like;
  node.op_type = type;
  node.op = nullptr;
  node.params.reset();
  node.attributes.clear();
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

void append_resolved(Graph& graph, Node node, std::vector<Node>& nodes) {
  Sink sink;
  ETCH_CHECK(resolve_node(graph, node, sink));
  nodes.push_back(std::move(node));
}

// Of a mean without the reduced axes, Flatten makes [N, C] of [N, C, 1...].
void append_pool(Graph& graph, const Node& mean, std::vector<Node>& nodes) {
  const ValueId x = mean.inputs[0], y = mean.outputs[0];
  if (graph.value(y).shape->size() == graph.value(x).shape->size()) {
    append_resolved(graph, operator_like(mean, "GlobalAveragePool", x, y), nodes);
    return;
  }
  const ValueId pooled = graph.add_value(Value{graph.value(y).name, {}, {}, {}});
  append_resolved(graph, operator_like(mean, "GlobalAveragePool", x, pooled), nodes);
  append_resolved(graph, operator_like(mean, "Flatten", pooled, y), nodes);
}
}  // namespace

bool is_mean_of_planes(const Node& node) {
  if (node.domain != kOnnx || node.op_type != "ReduceMean") return false;
  const std::vector<bool>& goes = params_of<Reduction>(node).goes;
  return std::ssize(goes) > kPositions && !goes[0] && !goes[1] &&
         std::all_of(goes.begin() + kPositions, goes.end(), [](bool axis) { return axis; });
}

int pool_means(Graph& graph) {
  const Wiring wiring(graph);
  std::vector<Node> nodes;
  int count = 0;
  for (const Node& node : graph.nodes) {
    if (is_quantized_mean(graph, wiring, node)) {
      append_pool(graph, node, nodes);
      ++count;
    } else {
      nodes.push_back(node);
    }
  }
  graph.nodes = std::move(nodes);
  return count;
}

}  // namespace etch
