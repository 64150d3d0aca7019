// Building of integer operators from QDQ groups; see qdq_group.h.
#include "compiler/passes/qdq_group.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/ops/clip/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/scalar_quantization.h"
#include "compiler/passes/qdq_bias.h"

namespace etch {

namespace {
// The operand's zero point as an input of the new node, which may not omit it.
ValueId zero_point_of(Graph& graph, const QuantizedOperand& operand) {
  if (operand.zero_point != kNoValue) return operand.zero_point;
  return graph.add_constant(Tensor(operand.dtype, *graph.value(operand.scale).shape));
}
}  // namespace

void append(Graph& graph, Node& node, const QuantizedOperand& operand) {
  const ValueId zero_point = zero_point_of(graph, operand);
  node.inputs.insert(node.inputs.end(), {operand.value, operand.scale, zero_point});
}

void append_output(Graph& graph, Node& node, const QuantizedOperand& operand) {
  const ValueId zero_point = zero_point_of(graph, operand);
  node.inputs.insert(node.inputs.end(), {operand.scale, zero_point});
}

Node renamed(const Group& group, std::string_view domain, std::string type) {
  Node node = group.node;
  node.domain = std::string(domain);
  node.op_type = std::move(type);
  node.op = nullptr;
  node.params.reset();
  node.inputs.clear();
  return node;
}

std::optional<ValueId> bias_for(Group& group, std::int64_t channels) {
  const BiasRequest request{group.node.inputs[2], group.inputs[2] ? &group.in(2) : nullptr,
                            group.output ? FloatBias::kQuantize : FloatBias::kRefuse, channels};
  BiasResult result =
      quantized_bias(group.graph, request, group.in(0).quantization, group.in(1).quantization);
  if (!result.warning.empty()) {
    group.warning = {Severity::kWarning, DiagKind::kQuant, group.node.index,
                     location_of(group.node), std::move(result.warning)};
  }
  if (!result.bias) group.fault = std::move(result.fault);
  return result.bias;
}

std::optional<ExactBias> exact_bias_for(Group& group, std::int64_t channels) {
  const BiasRequest request{group.node.inputs[2], group.inputs[2] ? &group.in(2) : nullptr,
                            FloatBias::kQuantize, channels};
  ExactBias bias =
      exact_bias(group.graph, request, group.in(0).quantization, group.in(1).quantization);
  if (!bias.units) {
    group.fault = std::move(bias.fault);
    return std::nullopt;
  }
  return bias;
}

void append_limits(const Group& group, const Node* limit, Node& node) {
  if (limit == nullptr) return;
  const ScalarQuantization by{group.output->quantization.scale_at(0),
                              group.output->quantization.zero_point_at(0)};
  double low = 0, high = INFINITY;
  if (limit->op_type == "Clip") {
    low = params_of<Clip>(*limit).low;
    high = params_of<Clip>(*limit).high;
  }
  const DType type = group.output->dtype;
  const std::int64_t most = quantized(static_cast<float>(high), by, type);
  const std::int64_t least = quantized(static_cast<float>(low), by, type);
  node.attributes["clamp_low"] = std::min(least, most);  // Clip's max wins where they cross
  node.attributes["clamp_high"] = most;
}

QuantizedOperand repeated(Graph& graph, QuantizedOperand weights, std::int64_t groups) {
  if (weights.per_tensor() || groups == 1) return weights;
  Quantization& q = weights.quantization;
  const Quantization once = q;
  for (std::int64_t g = 1; g < groups; ++g) {
    q.scale.insert(q.scale.end(), once.scale.begin(), once.scale.end());
  }
  if (once.zero_point.size() == 1) q.zero_point.assign(once.scale.size(), once.zero_point[0]);
  q.zero_point.resize(q.scale.size());
  const std::size_t count = once.scale.size();
  for (std::size_t c = count; c < q.scale.size(); ++c) q.zero_point[c] = q.zero_point[c % count];
  const Shape shape{static_cast<std::int64_t>(q.scale.size())};
  weights.scale = graph.add_constant(Tensor::of<float>(shape, q.scale));
  Tensor zero_points(weights.dtype, shape);
  for (std::size_t c = 0; c < q.zero_point.size(); ++c) {
    zero_points.mutable_bytes()[c] = static_cast<std::byte>(q.zero_point[c] & 0xff);
  }
  weights.zero_point = graph.add_constant(std::move(zero_points));
  return weights;
}

}  // namespace etch
