// Fusion of QDQ groups of 16 bits; see fuse_words.h.
#include "compiler/passes/fuse_words.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/conv_transpose/op.h"
#include "compiler/ops/gemm/op.h"
#include "compiler/ops/reduce_mean/op.h"
#include "compiler/passes/qdq_faults.h"

namespace etch {

namespace {

// True when the first `count` inputs and the output are per tensor and of the type of input 0.
bool one_word_type(Group& group, std::size_t count) {
  if (!group.output) return false;  // the fault says why
  const DType type = group.in(0).dtype;
  for (std::size_t i = 0; i < count; ++i) {
    if (!group.fits(word_fault(cat("input ", i), group.inputs[i], type))) return false;
  }
  return group.fits(word_fault("the output", group.output, type));
}

// The group's node as `type` of org.etch, without inputs.
Node words_node(const Group& group, std::string type) {
  Node node = renamed(group, kEtch, std::move(type));
  group.graph.opsets.emplace(kEtch, 1);
  append_limits(group, group.limit, node);
  return node;
}

// Weights per tensor or along `axis`; the bias has an entry for each of `channels`.
std::optional<Node> product(Group& group, std::string type, const QuantizedOperand& weights,
                            std::int64_t channels) {
  Node node = words_node(group, std::move(type));
  append(group.graph, node, group.in(0));
  append(group.graph, node, weights);
  append_output(group.graph, node, *group.output);
  if (group.has_bias()) {
    const auto bias = exact_bias_for(group, channels);
    if (!bias) return std::nullopt;
    node.inputs.push_back(*bias->units);
    if (bias->rests != kNoValue) node.inputs.push_back(bias->rests);
  }
  return node;
}

bool word_weights_fit(Group& group, std::int64_t axis) {
  return group.fits(weights_fault("input 1", group.inputs[1], DType::kU8, axis));
}

// Constant [K, M] as [M, K].
std::optional<QuantizedOperand> transposed(Graph& graph, QuantizedOperand weights) {
  const auto from = graph.value(weights.value).constant;
  if (from == nullptr || from->shape().size() != 2) return std::nullopt;
  const std::size_t rows = static_cast<std::size_t>(from->shape()[0]);
  const std::size_t columns = static_cast<std::size_t>(from->shape()[1]);
  Tensor to(from->dtype(), {from->shape()[1], from->shape()[0]});
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t m = 0; m < columns; ++m)
      to.mutable_bytes()[m * rows + k] = from->bytes()[k * columns + m];
  }
  weights.value = graph.add_constant(std::move(to));
  return weights;
}

// Of a matrix whose columns are the outputs, or rows if it is `turned` already.
std::optional<Node> matrix_product(Group& group, bool turned) {
  if (!one_word_type(group, 1) || !word_weights_fit(group, turned ? 0 : 1)) return std::nullopt;
  const auto weights = turned ? group.in(1) : transposed(group.graph, group.in(1));
  if (!group.fits(weights ? "" : "input 1 is no constant matrix")) return std::nullopt;
  const Shape& shape = *group.graph.value(weights->value).shape;
  auto node = product(group, "QLinearMatMul16", *weights, shape[0]);
  for (const char* name : {"alpha", "beta", "transA", "transB"}) {
    if (node) node->attributes.erase(name);
  }
  return node;
}

std::optional<Node> fuse_binary16(Group& group, std::string type) {
  if (!one_word_type(group, 2)) return std::nullopt;
  Node node = words_node(group, std::move(type));
  append(group.graph, node, group.in(0));
  append_output(group.graph, node, *group.output);
  append(group.graph, node, group.in(1));
  return node;
}

}  // namespace

bool has_words(const Group& group) { return group.inputs[0] && group.in(0).is_word(); }

std::optional<Node> fuse_conv16(Group& group) {
  if (!one_word_type(group, 1) || !word_weights_fit(group, 0)) return std::nullopt;
  return product(group, "QLinearConv16", group.in(1),
                 group.graph.value(group.in(1).value).shape->at(0));
}

std::optional<Node> fuse_conv_transpose16(Group& group) {
  if (!one_word_type(group, 1) || !word_weights_fit(group, 1)) return std::nullopt;
  const std::int64_t groups = params_of<ConvTransposeParams>(group.node).geometry.group;
  group.inputs[1] = repeated(group.graph, group.in(1), groups);
  return product(group, "QLinearConvTranspose16", group.in(1),
                 group.graph.value(group.in(1).value).shape->at(1) * groups);
}

std::optional<Node> fuse_gemm16(Group& group) {
  const auto& params = params_of<GemmParams>(group.node);
  const bool plain = params.alpha == 1.0F && !params.geometry.transposed_a &&
                     (params.beta == 1.0F || !group.has_bias());
  if (!group.fits(plain ? "" : "alpha or beta is not 1, or A is transposed")) return std::nullopt;
  return matrix_product(group, params.geometry.transposed_b);
}

std::optional<Node> fuse_matmul16(Group& group) {
  const bool two_words = group.inputs[1] && group.in(1).is_word();
  return two_words ? fuse_binary16(group, "QLinearProduct16") : matrix_product(group, false);
}

std::optional<Node> fuse_add16(Group& group) { return fuse_binary16(group, "QLinearSum16"); }

std::optional<Node> fuse_mul16(Group& group) { return fuse_binary16(group, "QLinearMul16"); }

std::optional<Node> fuse_pool16(Group& group) {
  if (!one_word_type(group, 1)) return std::nullopt;
  Node node = words_node(group, cat("QLinear", group.node.op_type, "16"));
  append(group.graph, node, group.in(0));
  append_output(group.graph, node, *group.output);
  return node;
}

std::optional<Node> fuse_mean16(Group& group) {
  if (!one_word_type(group, 1)) return std::nullopt;
  const auto& mean = params_of<Reduction>(group.node);
  Node node = words_node(group, "QLinearReduceMean16");
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < mean.goes.size(); ++i) {
    if (mean.goes[i]) axes.push_back(static_cast<std::int64_t>(i));
  }
  const bool keeps = mean.shape.size() == mean.goes.size();
  node.attributes = {{"axes", axes}, {"keepdims", std::int64_t{keeps ? 1 : 0}}};
  append(group.graph, node, group.in(0));
  append_output(group.graph, node, *group.output);
  return node;
}

std::optional<Node> fuse_concat16(Group& group) {
  if (!one_word_type(group, group.node.inputs.size())) return std::nullopt;
  const bool equal = std::ranges::all_of(
      group.inputs, [&](const auto& input) { return same_quantization(*input, *group.output); });
  if (!group.fits(equal ? "" : "16 bits of different scales or zero points")) return std::nullopt;
  Node node = renamed(group, kOnnx, "Concat");
  for (const auto& input : group.inputs) node.inputs.push_back(input->value);
  return node;
}

std::optional<Node> fuse_limit16(Group& group) {
  if (!has_words(group) || !one_word_type(group, 1)) return std::nullopt;
  Node node = words_node(group, "QLinearSum16");
  node.attributes.clear();
  append_limits(group, &group.node, node);
  append(group.graph, node, group.in(0));
  append_output(group.graph, node, *group.output);
  return node;
}

std::optional<Node> rescaled16(Graph& graph, const Node& quantize, const Node& dequantize) {
  const auto from = dequantized_by(graph, dequantize);
  const auto to = quantized_by(graph, quantize);
  if (!from || !to || !from->is_word() || from->dtype != to->dtype) return std::nullopt;
  if (!from->per_tensor() || !to->per_tensor() || same_quantization(*from, *to))
    return std::nullopt;
  Group group{graph, quantize, {from}, to, kNoValue, nullptr, {}, {}};
  Node node = words_node(group, "QLinearSum16");
  node.attributes.clear();
  append(graph, node, *from);
  append_output(graph, node, *to);
  return node;
}

}  // namespace etch
