// Rounding of float biases; see round_bias.h.
#include "compiler/passes/round_bias.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/qdq_bias.h"

namespace etch {

namespace {
constexpr std::size_t kBias = 2;
constexpr float kMostUnits = 0x1p31F;

bool is_product(const Node& node) {
  return node.domain == kOnnx &&
         (node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "Gemm");
}

bool has_bias(const Node& node) {
  return node.inputs.size() > kBias && node.inputs[kBias] != kNoValue;
}

// The only reader is a QuantizeLinear, or a Relu or Clip of which that holds. ONNX Runtime does not
// count a network's output as a reader; here it is one, as an Identity before it would be.
bool is_quantized_next(const Graph& graph, const Wiring& wiring, const Node& node) {
  const Node* current = &node;
  while (true) {
    const std::vector<int>& users = wiring.consumers(current->outputs[0]);
    if (users.size() != 1 || wiring.is_graph_output(current->outputs[0])) return false;
    current = &graph.nodes[static_cast<std::size_t>(users[0])];
    if (is_quantize(*current)) return true;
    if (current->op_type != "Relu" && current->op_type != "Clip") return false;
  }
}

// Weights of one scale, or of one for each of `channels` output channels.
bool weights_fit(const Node& node, const QuantizedOperand& weights, std::int64_t channels) {
  if (weights.per_tensor()) return true;
  if (weights.axis.granularity != QuantizationGranularity::kAxis) return false;
  if (node.op_type == "ConvTranspose") return false;
  const bool rows = node.op_type == "Conv" || int_attribute(node, "transB", 0) != 0;
  return weights.axis.axis == (rows ? 0 : 1) &&
         static_cast<std::int64_t>(weights.quantization.scale.size()) == channels;
}

std::optional<Tensor> rounded(const Tensor& bias, const Quantization& x, const Quantization& w) {
  const auto old = bias.as<float>();
  std::vector<float> out;
  for (std::size_t c = 0; c < old.size(); ++c) {
    const float unit = unit_of_bias(x, w, static_cast<std::int64_t>(c));
    // Not for NaN either.
    if (!(unit > 0) || !std::isfinite(unit) || !(std::fabs(old[c] / unit) < kMostUnits))
      return std::nullopt;
    out.push_back(static_cast<float>(in_units(old[c], unit)) * unit);
  }
  return Tensor::of<float>(bias.shape(), out);
}

std::optional<Tensor> rounded_bias(const Graph& graph, const Wiring& wiring, const Node& node) {
  if (!is_product(node) || !has_bias(node)) return std::nullopt;
  const Node* const before[] = {wiring.producer(node.inputs[0]), wiring.producer(node.inputs[1])};
  if (before[0] == nullptr || before[1] == nullptr) return std::nullopt;
  const auto x = dequantized_by(graph, *before[0]), w = dequantized_by(graph, *before[1]);
  const auto bias = graph.value(node.inputs[kBias]).constant;
  if (!x || !w || !x->per_tensor() || bias == nullptr || bias->dtype() != DType::kF32 ||
      bias->shape().size() != 1)
    return std::nullopt;
  if (!weights_fit(node, *w, bias->shape()[0]) || !is_quantized_next(graph, wiring, node))
    return std::nullopt;
  return rounded(*bias, x->quantization, w->quantization);
}
}  // namespace

int round_biases(Graph& graph) {
  Wiring wiring(graph);
  int count = 0;
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    auto bias = rounded_bias(graph, wiring, graph.nodes[static_cast<std::size_t>(i)]);
    if (!bias) continue;
    wiring.set_input(i, kBias, graph.add_constant(std::move(*bias)));
    ++count;
  }
  wiring.finish();
  return count;
}

}  // namespace etch
