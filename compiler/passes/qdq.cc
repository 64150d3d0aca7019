// Facts about QDQ nodes; see qdq.h.
#include "compiler/passes/qdq.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/ir/four_bits.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/clip/op.h"
#include "compiler/ops/dequantize_linear/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/quantize_linear/op.h"
#include "compiler/ops/scalar_quantization.h"

namespace etch {

namespace {
QuantizedOperand operand(const Graph& graph, const Node& node, ValueId value,
                         const Quantization& quantization, const QuantizationAxis& axis) {
  const ValueId zero_point = node.inputs.size() > 2 ? node.inputs[2] : kNoValue;
  return {value, node.inputs[1], zero_point, *graph.value(value).dtype, quantization, axis};
}
}  // namespace

bool is_quantize(const Node& node) { return node.op_type == "QuantizeLinear"; }
bool is_dequantize(const Node& node) { return node.op_type == "DequantizeLinear"; }

std::optional<QuantizedOperand> quantized_by(const Graph& graph, const Node& node) {
  if (!is_quantize(node)) return std::nullopt;
  const auto& params = params_of<QuantizeLinearParams>(node);
  if (!params.y) return std::nullopt;
  return operand(graph, node, node.outputs[0], *params.y, params.axis);
}

std::optional<QuantizedOperand> dequantized_by(const Graph& graph, const Node& node) {
  if (!is_dequantize(node)) return std::nullopt;
  const auto& params = params_of<DequantizeLinearParams>(node);
  if (!params.x) return std::nullopt;
  QuantizedOperand out = operand(graph, node, node.inputs[0], *params.x, params.axis);
  out.four_bits = has_four_bits(node);
  return out;
}

bool same_quantization(const QuantizedOperand& a, const QuantizedOperand& b) {
  return a.per_tensor() && b.per_tensor() && a.dtype == b.dtype &&
         a.quantization.scale_at(0) == b.quantization.scale_at(0) &&
         a.quantization.zero_point_at(0) == b.quantization.zero_point_at(0);
}

namespace {
struct Ends {
  float low, high;
};

// Of the quantized range: what DequantizeLinear makes of the least and the greatest integer.
Ends ends_of(const QuantizedOperand& by) {
  const ScalarQuantization q{by.quantization.scale_at(0), by.quantization.zero_point_at(0)};
  return {dequantized(static_cast<std::int32_t>(min_of(by.dtype)), q),
          dequantized(static_cast<std::int32_t>(max_of(by.dtype)), q)};
}

// Relu of what is quantized with the least integer as zero point: nothing below 0 is told apart.
bool is_implied_relu(const Node& node, const QuantizedOperand& by) {
  return node.op_type == "Relu" && by.quantization.zero_point_at(0) == min_of(by.dtype);
}
}  // namespace

bool is_implied_before(const Node& node, const QuantizedOperand& by) {
  if (!by.per_tensor() || node.domain != kOnnx) return false;
  if (is_implied_relu(node, by)) return true;
  if (node.op_type != "Clip") return false;
  // ONNX Runtime has one unit in the last place to spare.
  const Ends ends = ends_of(by);
  const auto& clip = params_of<Clip>(node);
  const bool left_out = clip.low <= static_cast<double>(std::nextafter(ends.low, INFINITY)) &&
                        clip.high >= static_cast<double>(std::nextafter(ends.high, -INFINITY));
  // Quantization is monotone: it is enough that the limits themselves give the ends.
  const ScalarQuantization q{by.quantization.scale_at(0), by.quantization.zero_point_at(0)};
  return left_out && quantized(static_cast<float>(clip.low), q, by.dtype) == min_of(by.dtype) &&
         quantized(static_cast<float>(clip.high), q, by.dtype) == max_of(by.dtype);
}

bool is_implied_after(const Node& node, const QuantizedOperand& by) {
  if (!by.per_tensor() || node.domain != kOnnx) return false;
  if (is_implied_relu(node, by)) return true;
  if (node.op_type != "Clip") return false;
  const Ends ends = ends_of(by);
  const auto& clip = params_of<Clip>(node);
  return clip.low <= static_cast<double>(ends.low) && clip.high >= static_cast<double>(ends.high);
}

Wiring::Wiring(Graph& graph)
    : graph_(graph),
      producers_(producers_of(graph)),
      consumers_(consumers_of(graph)),
      erased_(graph.nodes.size(), false) {}

// Passes add values as they go.
std::size_t Wiring::grown(ValueId id) const {
  if (as_index(id) >= producers_.size()) {
    producers_.resize(graph_.values.size(), -1);
    consumers_.resize(graph_.values.size());
  }
  return as_index(id);
}

const Node* Wiring::producer(ValueId id) const {
  if (id == kNoValue) return nullptr;
  const int node = producers_[grown(id)];
  return node < 0 ? nullptr : &graph_.nodes[as_index(node)];
}

const std::vector<int>& Wiring::consumers(ValueId id) const { return consumers_[grown(id)]; }

bool Wiring::is_graph_output(ValueId id) const {
  return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
}

const Node* Wiring::only_producer(ValueId id) const {
  const bool alone = id != kNoValue && consumers(id).size() == 1 && !is_graph_output(id);
  return alone ? producer(id) : nullptr;
}

void Wiring::connect(int node) {
  for (const ValueId id : graph_.nodes[as_index(node)].inputs) {
    if (id != kNoValue) consumers_[grown(id)].push_back(node);
  }
  for (const ValueId id : graph_.nodes[as_index(node)].outputs) {
    if (id != kNoValue) producers_[grown(id)] = node;
  }
}

void Wiring::disconnect(int node) {
  for (const ValueId id : graph_.nodes[as_index(node)].inputs) {
    if (id == kNoValue) continue;
    auto& users = consumers_[grown(id)];
    users.erase(std::find(users.begin(), users.end(), node));
  }
  for (const ValueId id : graph_.nodes[as_index(node)].outputs) {
    if (id != kNoValue && producers_[grown(id)] == node) producers_[grown(id)] = -1;
  }
}

void Wiring::set_input(int node, std::size_t slot, ValueId to) {
  disconnect(node);
  graph_.nodes[as_index(node)].inputs[slot] = to;
  connect(node);
}

void Wiring::redirect(ValueId from, ValueId to) {
  const std::vector<int> users = consumers(from);
  for (const int user : users) {
    const auto& inputs = graph_.nodes[as_index(user)].inputs;
    const auto slot = std::find(inputs.begin(), inputs.end(), from);
    ETCH_CHECK(slot != inputs.end());
    set_input(user, static_cast<std::size_t>(slot - inputs.begin()), to);
  }
}

void Wiring::replace(int node, Node by) {
  disconnect(node);
  graph_.nodes[as_index(node)] = std::move(by);
  connect(node);
}

void Wiring::erase(int node) {
  disconnect(node);
  erased_[as_index(node)] = true;
}

void Wiring::finish() {
  std::vector<Node> kept;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (!erased_[i]) kept.push_back(std::move(graph_.nodes[i]));
  }
  graph_.nodes = std::move(kept);
}

}  // namespace etch
