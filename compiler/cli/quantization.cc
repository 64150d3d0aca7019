// See quantization.h.
#include "compiler/cli/quantization.h"

#include <array>
#include <string_view>

#include "compiler/base/text.h"
#include "compiler/emit/report/verdict.h"

namespace etch::cli {
namespace {

constexpr int kNone = -1;

// QuantizeLinear and DequantizeLinear also occur at the borders of the other formats; they make a
// model QDQ if weights go through them or if there is nothing else.
constexpr std::string_view kBoundary = "";

// Where the quantized operators keep their weights and what tells the type of their result.
struct OperandInputs {
  std::string_view op_type;
  std::string_view format;
  int weights;  // input index of a tensor that may be a quantized constant
  int weights_scale;
  int result_zero_point;
};

constexpr std::array<OperandInputs, 12> kInputs = {{
    {"QuantizeLinear", kBoundary, kNone, kNone, 2},
    {"DequantizeLinear", kBoundary, 0, 1, kNone},
    {"QLinearConv", "QOperator", 3, 4, 7},
    {"QLinearConvTranspose", "QOperator", 3, 4, 7},
    {"QLinearMatMul", "QOperator", 3, 4, 7},
    {"QGemm", "QOperator", 3, 4, 8},
    {"QLinearAdd", "QOperator", kNone, kNone, 7},
    {"QLinearMul", "QOperator", kNone, kNone, 7},
    {"ConvInteger", "integer", 1, kNone, kNone},
    {"MatMulInteger", "integer", 1, kNone, kNone},
    {"DynamicQuantizeLinear", "dynamic", kNone, kNone, kNone},
    {"DynamicQuantizeMatMul", "dynamic", 1, 2, kNone},
}};

const Tensor* constant_input(const Graph& graph, const Node& node, int index) {
  if (index == kNone || static_cast<std::size_t>(index) >= node.inputs.size()) return nullptr;
  const ValueId id = node.inputs[static_cast<std::size_t>(index)];
  return id == kNoValue ? nullptr : graph.value(id).constant.get();
}

void count_node(const Graph& graph, const Node& node, const OperandInputs& inputs,
                Quantization& out) {
  if (inputs.format != kBoundary) out.formats.emplace(inputs.format);
  if (inputs.result_zero_point != kNone) {
    // Without a zero point QuantizeLinear makes uint8.
    const Tensor* zero_point = constant_input(graph, node, inputs.result_zero_point);
    ++out.activations[std::string(
        name_of(zero_point == nullptr ? DType::kU8 : zero_point->dtype()))];
  }
  const Tensor* weights = constant_input(graph, node, inputs.weights);
  if (weights == nullptr) return;
  if (inputs.format == kBoundary) out.formats.emplace("QDQ");
  const Tensor* scale = constant_input(graph, node, inputs.weights_scale);
  const std::string_view scope = scale == nullptr    ? ""
                                 : scale->size() > 1 ? " per channel"
                                                     : " per tensor";
  ++out.weights[cat(name_of(weights->dtype()), scope)];
}

}  // namespace

Quantization quantization_of(const Graph& graph) {
  Quantization out;
  for (const Node& node : graph.nodes) {
    for (const OperandInputs& inputs : kInputs) {
      if (node.op_type == inputs.op_type) count_node(graph, node, inputs, out);
    }
  }
  if (out.formats.empty() && !out.activations.empty()) out.formats.emplace("QDQ");
  return out;
}

std::string with_advice(std::string_view sentence) {
  if (sentence != kNotQuantized) return std::string(sentence);
  return cat(sentence, " (`etch quantize` of the Python package does)");
}

}  // namespace etch::cli
