// See fuse_relu.h.
#include "compiler/passes/fuse_relu.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

// The convolution before `relu` that can take it over, or null.
const Node* convolution_before(const Wiring& wiring, const Node& relu) {
  const Node* const conv = wiring.producer(relu.inputs[0]);
  if (conv == nullptr || conv->op_type != "Conv" || conv->domain != kOnnx) return nullptr;
  const ValueId between = conv->outputs[0];
  const bool only_reader = wiring.consumers(between).size() == 1;
  return only_reader && !wiring.is_graph_output(between) ? conv : nullptr;
}

Node fused_node(const Node& conv, const Node& relu) {
  Node out = conv;
  out.domain = kEtch;
  out.op_type = "ConvRelu";
  if (!conv.name.empty() && !relu.name.empty()) out.name = cat(conv.name, " + ", relu.name);
  out.op = nullptr;
  out.params.reset();
  out.outputs = relu.outputs;
  return out;
}

}  // namespace

void fuse_relus(Graph& graph) {
  graph.opsets.emplace(kEtch, 1);
  Wiring wiring(graph);
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    const Node& relu = graph.nodes[static_cast<std::size_t>(i)];
    if (relu.op_type != "Relu" || relu.domain != kOnnx) continue;
    const Node* const conv = convolution_before(wiring, relu);
    if (conv == nullptr) continue;
    const auto at = static_cast<int>(conv - graph.nodes.data());
    Node fused = fused_node(*conv, relu);
    Sink none;
    ETCH_CHECK(resolve_node(graph, fused, none));
    wiring.erase(i);
    wiring.replace(at, std::move(fused));
  }
  wiring.finish();
}

}  // namespace etch
