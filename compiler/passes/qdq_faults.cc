// Reasons in words; see qdq_faults.h.
#include "compiler/passes/qdq_faults.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pad/op.h"
#include "compiler/passes/pool_means.h"

namespace etch {

namespace {

constexpr std::string_view kAllHelps = " (--qdq all may take both types)";

std::string title(const Node& node) {
  if (node.name.empty()) return cat(printable(node.op_type), " #", node.index);
  return cat(printable(node.op_type), " '", printable(node.name), "'");
}

const Node& node_at(const Graph& graph, int i) { return graph.nodes[static_cast<std::size_t>(i)]; }

std::string granularity_text(const QuantizedOperand& operand) {
  if (operand.axis.granularity == QuantizationGranularity::kBlock) return "in blocks";
  return cat("along axis ", operand.axis.axis);
}

std::string eight_bit_fault(std::string_view role, const std::optional<QuantizedOperand>& operand) {
  if (!operand) return cat(role, " does not come from a DequantizeLinear of constant parameters");
  if (is_8bit(operand->dtype)) return {};
  return cat(role, " is ", name_of(operand->dtype), ", needs int8 or uint8");
}

std::string tensor_and_type_fault(std::string_view role, const QuantizedOperand& operand,
                                  DType type, int like) {
  if (!operand.per_tensor()) {
    return cat(role, " is quantized ", granularity_text(operand), ", needs per tensor");
  }
  if (operand.dtype == type) return {};
  const bool mixed = is_8bit(operand.dtype) && is_8bit(type);
  return cat(role, " is ", name_of(operand.dtype), ", needs ", name_of(type), " as input ", like,
             mixed ? kAllHelps : "");
}

// What keeps `node` from being the QuantizeLinear of a group; empty: nothing.
std::string user_fault(const Graph& graph, const Node& node) {
  if (!is_quantize(node)) return cat("its result is used as float by ", title(node));
  if (quantized_by(graph, node)) return {};
  return cat("scale or zero point of ", title(node), " are known at run time only");
}

}  // namespace

std::string activation_fault(std::string_view role, const std::optional<QuantizedOperand>& operand,
                             DType type, int like) {
  if (std::string fault = eight_bit_fault(role, operand); !fault.empty()) return fault;
  return tensor_and_type_fault(role, *operand, type, like);
}

std::string word_fault(std::string_view role, const std::optional<QuantizedOperand>& operand,
                       DType type) {
  if (!operand) return cat(role, " does not come from a DequantizeLinear of constant parameters");
  return tensor_and_type_fault(role, *operand, type, 0);
}

std::string weights_fault(std::string_view role, const std::optional<QuantizedOperand>& operand,
                          DType x, std::int64_t axis) {
  if (std::string fault = eight_bit_fault(role, operand); !fault.empty()) return fault;
  if (x == DType::kS8 && operand->dtype != DType::kS8) {
    return cat(role, " is uint8 beside int8 activations, needs int8", kAllHelps);
  }
  const bool along =
      operand->axis.granularity == QuantizationGranularity::kAxis && operand->axis.axis == axis;
  if (operand->per_tensor() || along) return {};
  return cat(role, " is quantized ", granularity_text(*operand), ", needs ",
             axis < 0 ? std::string("per tensor") : cat("axis ", axis, " or per tensor"));
}

std::string output_fault(const Graph& graph, const Wiring& wiring, ValueId output) {
  if (wiring.is_graph_output(output)) return "its float result is a graph output";
  std::optional<QuantizedOperand> first;
  for (const int user : wiring.consumers(output)) {
    const Node& node = node_at(graph, user);
    if (std::string fault = user_fault(graph, node); !fault.empty()) return fault;
    const auto operand = quantized_by(graph, node);
    if (first && !same_quantization(*first, *operand)) {
      return "its result is quantized in two different ways";
    }
    if (first && wiring.is_graph_output(operand->value)) {
      return "its result is quantized twice, and one of them is a graph output";
    }
    if (!first) first = operand;
  }
  return {};
}

std::string operator_fault(const Graph& graph, const Wiring& wiring, const Node& node) {
  const bool clips = node.op_type == "Relu" || node.op_type == "Clip";
  if (clips && output_fault(graph, wiring, node.outputs[0]).empty()) {
    return "the range of the QuantizeLinear after it is wider than what it lets through";
  }
  if (node.op_type == "MaxPool" && node.domain.empty() && graph.opset("") < 12) {
    return cat("MaxPool takes integers since opset 12, the model imports ", graph.opset(""));
  }
  const bool passes_integers = node.op_type == "MaxPool" || moves_data(node);
  const auto* pad = std::any_cast<Pad>(&node.params);
  if (pad != nullptr && pad->mode == Pad::Mode::kConstant)
    return "no integer represents the value that it adds";
  if (is_mean_of_planes(node))
    return "a mean over all positions is float in ONNX Runtime (--qdq all pools integers)";
  if (passes_integers) return "only data quantized per tensor passes through it as integers";
  return "there is no integer form of it: it is computed in float";
}

bool is_beside_quantization(const Graph& graph, const Wiring& wiring, const Node& node) {
  const bool after = std::ranges::any_of(node.inputs, [&](ValueId id) {
    const Node* before = wiring.producer(id);
    return before != nullptr && is_dequantize(*before);
  });
  return after || std::ranges::any_of(node.outputs, [&](ValueId id) {
           return id != kNoValue && std::ranges::any_of(wiring.consumers(id), [&](int user) {
                    return is_quantize(node_at(graph, user));
                  });
         });
}

}  // namespace etch
