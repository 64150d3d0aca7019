// Building of integer operators from QDQ groups; see qdq_group.h.
#include "compiler/passes/qdq_group.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "compiler/ir/four_bits.h"
#include "compiler/ir/reciprocals.h"
#include "compiler/ops/clip/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/scalar_quantization.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/qdq_bias.h"

namespace etch {

ValueId zero_point_of(Graph& graph, const QuantizedOperand& operand) {
  if (operand.zero_point != kNoValue) return operand.zero_point;
  return graph.add_constant(Tensor(operand.dtype, *graph.value(operand.scale).shape));
}

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
  const bool product = is_one_of(group.node.op_type, {"Conv", "ConvTranspose", "Gemm", "MatMul"});
  if (product && group.inputs.size() > 1 && group.inputs[1] && group.in(1).four_bits)
    mark_four_bits(node);
  return node;
}

namespace {
// Within these bounds no product of scales, and no sum of 2^24 units, leaves the normal floats.
bool is_moderate_power(float scale) {
  return scale >= 0x1p-30F && scale <= 0x1p30F && is_power_of_two(scale);
}

bool are_powers_of_two(const std::optional<QuantizedOperand>& operand) {
  return operand && operand->axis.granularity != QuantizationGranularity::kBlock &&
         std::ranges::all_of(operand->quantization.scale, is_moderate_power);
}

// The largest size that a sum of some of one channel's products can have, in units. `axis`: that of
// the weights' output channels.
std::int64_t largest_sum(const QuantizedOperand& x, const QuantizedOperand& w,
                         const Tensor& weights, std::size_t axis) {
  const Shape& shape = weights.shape();
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t channels = shape[axis];
  const std::int64_t least = (x.dtype == DType::kU8 ? 0 : -128) - x.quantization.zero_point_at(0);
  const std::int64_t most = least + 255;
  std::vector<std::int64_t> above(static_cast<std::size_t>(channels)), below = above;
  const std::int64_t count = element_count(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t c = i / inner % channels;
    const std::int64_t value = weights.integer(i) - w.quantization.zero_point_at(c);
    above[static_cast<std::size_t>(c)] += std::max(value * least, value * most);
    below[static_cast<std::size_t>(c)] -= std::min(value * least, value * most);
  }
  return std::max(*std::ranges::max_element(above), *std::ranges::max_element(below));
}

// A bias of integers in another scale, such as int8, where all scales are powers of two, as
// quantizers for accelerators choose them. The float operators then compute exactly what the
// integer one does, as long as no sum leaves the 24 bits of a float.
std::optional<ValueId> bias_of_powers_of_two(const Group& group, const BiasRequest& request) {
  const bool is_conv = group.node.op_type == "Conv";
  if (request.operand == nullptr || (!is_conv && group.node.op_type != "Gemm")) return std::nullopt;
  const bool is_exact = are_powers_of_two(group.inputs[0]) && are_powers_of_two(group.inputs[1]) &&
                        are_powers_of_two(group.inputs[2]) &&
                        (!group.output || are_powers_of_two(group.output));
  const auto weights = group.graph.value(group.in(1).value).constant;
  if (!is_exact || weights == nullptr || !is_8bit(group.in(0).dtype)) return std::nullopt;
  const ExactBias bias =
      exact_bias(group.graph, request, group.in(0).quantization, group.in(1).quantization);
  if (!bias.units || bias.rests != kNoValue) return std::nullopt;
  std::int64_t most = 0;
  for (const std::int64_t unit : group.graph.value(*bias.units).constant->integers())
    most = std::max(most, std::abs(unit));
  const std::size_t axis = is_conv || int_attribute(group.node, "transB", 0) != 0 ? 0 : 1;
  most += largest_sum(group.in(0), group.in(1), *weights, axis);
  return most < std::int64_t{1} << 24 ? bias.units : std::nullopt;
}
}  // namespace

std::optional<ValueId> bias_for(Group& group, std::int64_t channels) {
  const BiasRequest request{group.node.inputs[2], group.inputs[2] ? &group.in(2) : nullptr,
                            group.output ? FloatBias::kQuantize : FloatBias::kRefuse, channels};
  BiasResult result =
      quantized_bias(group.graph, request, group.in(0).quantization, group.in(1).quantization);
  if (!result.warning.empty()) {
    group.warning = {Severity::kWarning, DiagKind::kQuant, group.node.index,
                     location_of(group.node), std::move(result.warning)};
  }
  if (!result.bias) result.bias = bias_of_powers_of_two(group, request);
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
