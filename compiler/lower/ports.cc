// Ports from graph inputs and outputs; see ports.h.
#include "compiler/lower/ports.h"

#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/op_def.h"

namespace etch {

namespace {

std::optional<Quantization> written_by(const Node& node) {
  return node.op->writes == nullptr ? std::nullopt : node.op->writes(node);
}

// How `node` reads `id`: operators declare it of input 0.
std::optional<Quantization> read_by(const Node& node, ValueId id) {
  if (node.op->reads == nullptr || node.inputs[0] != id) return std::nullopt;
  return node.op->reads(node);
}

// The number of the output before output i whose shape a node gives; see ops/concat/op.h. Files may
// have such nodes of their own, with any number.
std::optional<int> described_output(const Graph& graph, int node, std::size_t i) {
  if (node < 0) return std::nullopt;
  const Node& shape = graph.nodes[static_cast<std::size_t>(node)];
  if (shape.domain != kEtch || shape.op_type != "OutputShape") return std::nullopt;
  const auto found = shape.attributes.find("output");
  if (found == shape.attributes.end()) return std::nullopt;
  const auto output = std::get<std::int64_t>(found->second);
  const bool is_before = output >= 0 && output < static_cast<std::int64_t>(i);
  return is_before ? std::optional(static_cast<int>(output)) : std::nullopt;
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
      if (!quantization)
        quantization = read_by(graph.nodes[static_cast<std::size_t>(node)], graph.inputs[i]);
    }
    program.inputs.push_back(port_of(graph, graph.inputs[i], cat("input", i), quantization));
    program.inputs.back().file =
        i < graph.input_files.size() ? graph.input_files[i] : static_cast<int>(i);
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const int node = producers[static_cast<std::size_t>(graph.outputs[i])];
    const auto quantization =
        node < 0 ? std::nullopt : written_by(graph.nodes[static_cast<std::size_t>(node)]);
    program.outputs.push_back(port_of(graph, graph.outputs[i], cat("output", i), quantization));
    program.outputs.back().file = described_output(graph, node, i).value_or(static_cast<int>(i));
  }
}

}  // namespace etch
