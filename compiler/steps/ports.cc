// Ports from graph inputs and outputs; see ports.h.
#include "compiler/steps/ports.h"

#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/dequantize_linear/op.h"
#include "compiler/ops/qgemm/op.h"
#include "compiler/ops/qlinear_conv/op.h"
#include "compiler/ops/qlinear_matmul/op.h"
#include "compiler/ops/quantize_linear/op.h"

namespace etch {

namespace {

// The quantization that `node` gives to its output, if it is one pair of constants.
std::optional<Quantization> written_by(const Node& node) {
  if (const auto* p = std::any_cast<QLinearConvParams>(&node.params)) return p->y;
  if (const auto* p = std::any_cast<QLinearMatMulParams>(&node.params)) return p->y;
  if (const auto* p = std::any_cast<QGemmParams>(&node.params)) return p->y;
  if (const auto* p = std::any_cast<QuantizeLinearParams>(&node.params)) return p->y;
  return std::nullopt;
}

// The quantization with which `node` reads its first input.
std::optional<Quantization> read_by(const Node& node) {
  if (const auto* p = std::any_cast<QLinearConvParams>(&node.params)) return p->x;
  if (const auto* p = std::any_cast<QLinearMatMulParams>(&node.params)) return p->a;
  if (const auto* p = std::any_cast<QGemmParams>(&node.params)) return p->a;
  if (const auto* p = std::any_cast<DequantizeLinearParams>(&node.params)) return p->x;
  return std::nullopt;
}

Port port_of(const Graph& graph, ValueId id, std::string identifier,
             const std::optional<Quantization>& quantization) {
  const Value& value = graph.value(id);
  Port port;
  port.name = value.name;
  port.identifier = std::move(identifier);
  port.dtype = *value.dtype;
  port.shape = *value.shape;
  if (quantization && is_8bit(port.dtype) && quantization->scale.size() == 1 &&
      quantization->zero_point.size() == 1) {
    port.quantized = true;
    port.scale = quantization->scale[0];
    port.zero_point = quantization->zero_point[0];
  }
  return port;
}

}  // namespace

void describe_ports(const Graph& graph, Program& program) {
  const auto consumers = consumers_of(graph);
  const auto producers = producers_of(graph);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    std::optional<Quantization> quantization;
    for (const int node : consumers[static_cast<std::size_t>(graph.inputs[i])]) {
      if (!quantization) quantization = read_by(graph.nodes[static_cast<std::size_t>(node)]);
    }
    program.inputs.push_back(port_of(graph, graph.inputs[i], cat("input", i), quantization));
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const int node = producers[static_cast<std::size_t>(graph.outputs[i])];
    const auto quantization =
        node < 0 ? std::nullopt : written_by(graph.nodes[static_cast<std::size_t>(node)]);
    program.outputs.push_back(port_of(graph, graph.outputs[i], cat("output", i), quantization));
  }
}

}  // namespace etch
