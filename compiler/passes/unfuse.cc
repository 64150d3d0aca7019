// See unfuse.h.
#include "compiler/passes/unfuse.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/passes/compositions/grouped_weights.h"
#include "compiler/passes/compositions/infinite_scale.h"
#include "compiler/passes/compositions/qonnx.h"
#include "compiler/passes/compositions/rules.h"
#include "compiler/passes/functions/functions.h"

namespace etch {

namespace {

// An activation and its attributes in the order of activation_params.
struct ActivationSpelling {
  std::string_view op_type;
  const char* first = nullptr;
  const char* second = nullptr;
};

constexpr ActivationSpelling kActivations[] = {{"Relu"},
                                               {"Sigmoid"},
                                               {"Tanh"},
                                               {"LeakyRelu", "alpha"},
                                               {"Softplus"},
                                               {"Softsign"},
                                               {"Elu", "alpha"},
                                               {"HardSigmoid", "alpha", "beta"},
                                               {"Clip", "min", "max"},
                                               {"ThresholdedRelu", "alpha"}};

// The activation of `x` with up to two parameters; those absent have its own defaults.
void activate(Parts& parts, ValueId x, const std::string& type,
              const std::vector<float>& parameters) {
  const auto* known = std::ranges::find(kActivations, type, &ActivationSpelling::op_type);
  if (known == std::end(kActivations)) {
    parts.fail(DiagKind::kUnsupported,
               cat("the activation '", printable(type), "' is not supported"));
    return;
  }
  Attributes attributes;
  const char* const names[] = {known->first, known->second};
  for (std::size_t i = 0; i < 2 && i < parameters.size(); ++i) {
    if (names[i] != nullptr) attributes[names[i]] = parameters[i];
  }
  if (type != "Clip" || parts.onnx_opset() < 11) {
    parts.add(known->op_type.data(), {x}, std::move(attributes));
    return;
  }
  std::vector<ValueId> inputs{x};
  for (const char* const name : names)
    inputs.push_back(attributes.contains(name) ? parts.scalar(std::get<float>(attributes[name]))
                                               : kNoValue);
  parts.add("Clip", std::move(inputs));
}

void conv(Parts& parts) {
  const auto type = parts.take<std::string>("activation", "");
  const auto parameters = parts.take<std::vector<float>>("activation_params", {});
  ValueId y = parts.add("Conv", {parts.input(0), parts.input(1), parts.input(2)}, parts.take_all());
  if (parts.input(3) != kNoValue) y = parts.add("Add", {y, parts.input(3)});
  if (!type.empty()) activate(parts, y, type, parameters);
}

void gemm(Parts& parts) {
  const auto type = parts.take<std::string>("activation", "");
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (!parts.has(name)) break;  // one after a gap remains, and is refused
    parameters.push_back(parts.take<float>(name, 0));
  }
  const ValueId y =
      parts.add("Gemm", {parts.input(0), parts.input(1), parts.input(2)}, parts.take_all());
  if (!type.empty()) activate(parts, y, type, parameters);
}

// Where each dimension of a side comes from. `batch`: the first dimension is that of the rows, and
// belongs after the batch; `swap`: the last two trade places after that.
std::vector<std::int64_t> permutation(std::size_t rank, bool batch, bool swap) {
  std::vector<std::int64_t> out;
  for (std::size_t d = 0; d < rank; ++d) out.push_back(static_cast<std::int64_t>(d));
  if (batch && rank > 2) std::rotate(out.begin(), out.begin() + 1, out.end() - 1);
  if (swap && rank > 1) std::swap(out[rank - 1], out[rank - 2]);
  return out;
}

void matmul(Parts& parts) {
  const auto alpha = parts.take<float>("alpha", 1);
  const auto side = [&](std::size_t i, const char* swap_name, const char* batch_name) {
    const bool swap = parts.take<std::int64_t>(swap_name, 0) != 0;
    const bool batch = parts.take<std::int64_t>(batch_name, 0) != 0;
    if (!parts.needs(i)) return kNoValue;
    const ValueId id = parts.input(i);
    if (!swap && !batch) return id;
    return parts.add("Transpose", {id}, {{"perm", permutation(parts.rank(id), batch, swap)}});
  };
  const ValueId a = side(0, "transA", "transBatchA");
  const ValueId b = side(1, "transB", "transBatchB");
  const ValueId y = parts.add("MatMul", {a, b});
  if (alpha != 1.0F) parts.add("Mul", {y, parts.scalar(alpha)});
}

void gelu(Parts& parts, const char* approximate) {
  ValueId x = parts.input(0);
  if (parts.input(1) != kNoValue) x = parts.add("Add", {x, parts.input(1)});
  parts.add("Gelu", {x}, {{"approximate", std::string(approximate)}});
}

// What ONNX Runtime's optimizer puts between convolutions whose channels come last.
void nhwc_max_pool(Parts& parts) {
  if (!parts.has_type(0, {DType::kU8, DType::kS8})) return;
  Ints last = count_up(parts.shape(0).size()), first = last;
  if (last.size() < 3) {
    parts.fail(DiagKind::kShape, "input 0 must have batch, places and channels");
    return;
  }
  std::rotate(first.begin() + 1, first.end() - 1, first.end());
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  const ValueId x = parts.transpose(parts.input(0), first);
  parts.transpose(parts.add("MaxPool", {x}, parts.take_all()), last);
}

constexpr Rule kUnfuseRules[] = {
    {"FusedConv", conv, 4, 1},
    {"FusedGemm", gemm, 3, 1},
    {"NhwcMaxPool", nhwc_max_pool, 1, 1},
    {"FusedMatMul", matmul, 2, 1},
    {"TransposeMatMul", matmul, 2, 1},
    {"BiasGelu", [](Parts& parts) { gelu(parts, "none"); }, 2, 1},
    {"FastGelu", [](Parts& parts) { gelu(parts, "tanh"); }, 2, 1},
    {"SkipLayerNormalization", write_skip_layer_normalization, 5, 4},
    {"SkipSimplifiedLayerNormalization", write_skip_simplified_normalization, 4, 4},
    {"EmbedLayerNormalization", write_embed_layer_normalization, 9, 3},
    {"QEmbedLayerNormalization", write_quantized_embed_normalization, 18, 2},
    {"RotaryEmbedding", write_microsoft_rotary_embedding, 4, 1},
    {"Attention", write_packed_attention, 7, 2},
    {"QAttention", write_quantized_attention, 9, 2},
    {"MultiHeadAttention", write_multi_head_attention, 10, 4},
    {"GroupQueryAttention", write_group_query_attention, 12, 4},
    {"MatMulNBits", write_grouped_weights, 6, 1, 1, has_grouped_weights}};

constexpr Rule kFlexAttention{"FlexAttention", write_flex_attention, 4, 1};

const Rule* rule_for(const Graph* graph, const Node& node) {
  if (is_qonnx(node.domain)) return qonnx_rule(node);
  const Rule* const infinite = graph == nullptr ? nullptr : infinite_scale_rule(*graph, node);
  if (infinite != nullptr) return infinite;
  if (node.domain == "ai.onnx.preview" && node.op_type == kFlexAttention.op_type)
    return &kFlexAttention;
  if (node.domain != kMicrosoft) return composition_rule(graph, node);
  const auto* found = std::ranges::find(kUnfuseRules, node.op_type, &Rule::op_type);
  if (found == std::end(kUnfuseRules)) return nullptr;
  const bool applies = graph == nullptr || found->applies == nullptr;
  return applies || found->applies(*graph, node) ? found : nullptr;
}

// False after a report when more values are listed than the parts take or give.
bool has_at_most(Parts& parts, std::size_t most, const char* role,
                 const std::vector<ValueId>& ids) {
  if (ids.size() <= most) return true;
  parts.fail(DiagKind::kGraph, cat("must have at most ", most, " ", role, "s, has ", ids.size()));
  return false;
}

// A network with such a scale is of little use, and its author should know.
void warn_of_infinite_scale(const Graph& graph, const Node& node, Sink& sink) {
  if (infinite_scale_rule(graph, node) == nullptr) return;
  sink.warning(DiagKind::kQuant, location_of(node),
               "its scale is infinite, so that finite numbers become NaN after it, as in ONNX "
               "Runtime; a constant with -inf, as a mask of attention has, was quantized: put a "
               "number such as -10000 there before, or exclude the node");
}

}  // namespace

bool may_be_fused(const Node& node) { return rule_for(nullptr, node) != nullptr; }

bool is_fused(const Graph& graph, const Node& node) { return rule_for(&graph, node) != nullptr; }

std::vector<Node> unfused(Graph& graph, const Node& node, Sink& sink) {
  const Rule& rule = *rule_for(&graph, node);
  Parts parts(graph, node, sink);
  const bool inputs_good = has_at_most(parts, rule.most_inputs, "input", node.inputs);
  const bool outputs_good = has_at_most(parts, rule.most_outputs, "output", node.outputs);
  if (!inputs_good || !outputs_good || !parts.needs(0)) return {};
  if (node.outputs.empty() || node.outputs[0] == kNoValue) {
    parts.fail(DiagKind::kGraph, "output 0 is required, but omitted");
    return {};
  }
  if (graph.opset(node.domain) < rule.since) {
    parts.fail(DiagKind::kVersion,
               cat("exists since version ", rule.since, " of ai.onnx, the model imports ",
                   graph.opset(node.domain)));
    return {};
  }
  rule.write(parts);
  warn_of_infinite_scale(graph, node, sink);
  std::vector<Node> out = parts.finish();
  std::string types;
  for (const Node& part : out) types += cat(types.empty() ? "" : ", ", part.op_type);
  if (!out.empty()) graph.fusions.fused(node, cat("is computed as ", types));
  return out;
}

}  // namespace etch
