// Fusion of QDQ groups into integer operators; see fuse_qdq.h.
#include "compiler/passes/fuse_qdq.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/conv_transpose/op.h"
#include "compiler/ops/gemm/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/passes/fuse_words.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/qdq_faults.h"
#include "compiler/passes/qdq_group.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

// True when the first `count` inputs and the output, if any, are per tensor and of one 8-bit type.
bool one_type(Group& group, std::size_t count) {
  const DType type = group.inputs[0] ? group.in(0).dtype : DType::kU8;
  for (std::size_t i = 0; i < count; ++i) {
    if (!group.fits(activation_fault(cat("input ", i), group.inputs[i], type))) return false;
  }
  return !group.output || group.fits(activation_fault("the output", group.output, type));
}

// True when input 0 and the output, if any, of a product are per tensor, with types that its
// operator may have.
bool product_types(Group& group) {
  if (group.groups == QdqGroups::kOfOnnxRuntime || !group.inputs[0] || !group.output)
    return one_type(group, 1);
  return group.fits(activation_fault("input 0", group.inputs[0], group.in(0).dtype)) &&
         group.fits(activation_fault("the output", group.output, group.output->dtype));
}

// Weights are quantized per tensor or along `axis`; int8 may be combined with uint8, the reverse
// where types are mixed only.
bool weights_fit(Group& group, std::size_t input, std::int64_t axis) {
  const bool mixed = group.groups == QdqGroups::kAll;
  return group.fits(weights_fault(cat("input ", input), group.inputs[input],
                                  mixed ? DType::kU8 : group.in(0).dtype, axis));
}

// The kernels that limit need to know their weights and bias.
bool may_limit(Group& group, ValueId weights) {
  const bool known = group.limit == nullptr || group.graph.value(weights).constant != nullptr;
  return group.fits(known ? "" : "limits its result, but its weights or bias are no constants");
}

std::optional<Node> fuse_conv(Group& group) {
  if (!group.output || !product_types(group) || !weights_fit(group, 1, 0)) return std::nullopt;
  if (!may_limit(group, group.in(1).value)) return std::nullopt;
  Node node = renamed(group, group.limit == nullptr ? kOnnx : kEtch, "QLinearConv");
  if (group.limit != nullptr) group.graph.opsets.emplace(kEtch, 1);
  append_limits(group, group.limit, node);
  append(group.graph, node, group.in(0));
  append(group.graph, node, group.in(1));
  append_output(group.graph, node, *group.output);
  if (group.has_bias()) {
    const auto bias = bias_for(group, group.graph.value(group.in(1).value).shape->at(0));
    if (!bias || !may_limit(group, *bias)) return std::nullopt;
    node.inputs.push_back(*bias);
  }
  return node;
}

std::optional<Node> fuse_conv_transpose(Group& group) {
  if (!group.output || !product_types(group) || !weights_fit(group, 1, 1)) return std::nullopt;
  if (!may_limit(group, group.in(1).value)) return std::nullopt;
  const std::int64_t groups = params_of<ConvTransposeParams>(group.node).geometry.group;
  group.inputs[1] = repeated(group.graph, group.in(1), groups);
  Node node = renamed(group, kEtch, "QLinearConvTranspose");
  group.graph.opsets.emplace(kEtch, 1);
  append_limits(group, group.limit, node);
  append(group.graph, node, group.in(0));
  append(group.graph, node, group.in(1));
  append_output(group.graph, node, *group.output);
  if (group.has_bias()) {
    const auto bias = bias_for(group, group.graph.value(group.in(1).value).shape->at(1) * groups);
    if (!bias || !may_limit(group, *bias)) return std::nullopt;
    node.inputs.push_back(*bias);
  }
  return node;
}

std::optional<Node> fuse_gemm(Group& group) {
  const auto& params = params_of<GemmParams>(group.node);
  const bool transposed = group.node.attributes.contains("transB") &&
                          std::get<std::int64_t>(group.node.attributes.at("transB")) != 0;
  if (!product_types(group) || !weights_fit(group, 1, transposed ? 0 : 1)) return std::nullopt;
  if (!group.fits(params.alpha > 0 ? "" : "alpha is not positive")) return std::nullopt;
  Node node = renamed(group, kMicrosoft, "QGemm");
  node.attributes.erase("beta");
  append(group.graph, node, group.in(0));
  append(group.graph, node, group.in(1));
  std::optional<ValueId> bias = kNoValue;
  if (group.has_bias()) {
    const bool plain = params.alpha == 1.0F && params.beta == 1.0F;
    if (!group.fits(plain ? "" : "has a bias, but alpha or beta is not 1")) return std::nullopt;
    bias = bias_for(group, group.graph.value(group.node.outputs[0]).shape->at(1));
    if (!bias) return std::nullopt;
  }
  if (group.output || *bias != kNoValue) node.inputs.push_back(*bias);
  if (group.output) append_output(group.graph, node, *group.output);
  return node;
}

// Of batches of matrices, as ONNX Runtime has it where no QuantizeLinear follows.
Node product_to_float(Group& group) {
  Node node = renamed(group, kMicrosoft, "MatMulIntegerToFloat"), a, b;
  append(group.graph, a, group.in(0));
  append(group.graph, b, group.in(1));
  for (std::size_t i = 0; i < a.inputs.size(); ++i)  // value, scale, zero point of a, of b
    node.inputs.insert(node.inputs.end(), {a.inputs[i], b.inputs[i]});
  return node;
}

std::optional<Node> fuse_matmul(Group& group) {
  if (!product_types(group)) return std::nullopt;
  if (!group.inputs[1] && !weights_fit(group, 1, 1)) return std::nullopt;
  const std::size_t a_rank = group.graph.value(group.in(0).value).shape->size();
  const std::size_t b_rank = group.graph.value(group.in(1).value).shape->size();
  // Columns are the last axis; per column only for a plain matrix.
  if (!weights_fit(group, 1, b_rank == 2 ? 1 : -1)) return std::nullopt;
  if (!group.output && (a_rank != 2 || b_rank != 2)) return product_to_float(group);
  Node node =
      group.output ? renamed(group, kOnnx, "QLinearMatMul") : renamed(group, kMicrosoft, "QGemm");
  append(group.graph, node, group.in(0));
  append(group.graph, node, group.in(1));
  if (group.output) append_output(group.graph, node, *group.output);
  return node;
}

std::optional<Node> fuse_binary(Group& group) {
  if (!group.output || !one_type(group, 2)) return std::nullopt;
  const bool limited = group.limit != nullptr;
  Node node = renamed(group, limited ? kEtch : kMicrosoft, cat("QLinear", group.node.op_type));
  if (limited) group.graph.opsets.emplace(kEtch, 1);
  append_limits(group, group.limit, node);
  append(group.graph, node, group.in(0));
  append(group.graph, node, group.in(1));
  append_output(group.graph, node, *group.output);
  return node;
}

std::optional<Node> fuse_unary(Group& group) {
  if (!group.output || !one_type(group, 1)) return std::nullopt;
  Node node = renamed(group, kMicrosoft, cat("QLinear", group.node.op_type));
  append(group.graph, node, group.in(0));
  append_output(group.graph, node, *group.output);
  if (group.node.op_type == "Softmax") node.attributes["opset"] = group.graph.opset("");
  if (group.node.op_type == "AveragePool") {
    if (const auto found = node.attributes.find("dilations"); found != node.attributes.end()) {
      const auto& sizes = std::get<std::vector<std::int64_t>>(found->second);
      const bool dilated = std::ranges::any_of(sizes, [](auto size) { return size != 1; });
      if (!group.fits(dilated ? "its windows are dilated" : "")) return std::nullopt;
      node.attributes.erase(found);
    }
  }
  return node;
}

std::optional<Node> fuse_concat(Group& group) {
  const std::size_t count = group.node.inputs.size();
  if (!group.output || !one_type(group, count)) return std::nullopt;
  const bool equal = std::ranges::all_of(
      group.inputs, [&](const auto& input) { return same_quantization(*input, *group.output); });
  Node node = equal ? renamed(group, kOnnx, "Concat") : renamed(group, kMicrosoft, "QLinearConcat");
  if (!equal) append_output(group.graph, node, *group.output);
  for (std::size_t i = 0; i < count; ++i) {
    if (equal) {
      node.inputs.push_back(group.in(i).value);
    } else {
      append(group.graph, node, group.in(i));
    }
  }
  return node;
}

// The condition is what it is; the two values come from DQs of the output's type.
std::optional<Node> fuse_where(Group& group) {
  if (!group.output) return std::nullopt;
  const DType type = group.inputs[1] ? group.in(1).dtype : DType::kU8;
  for (const std::size_t i : {1U, 2U}) {
    if (!group.fits(activation_fault(cat("input ", i), group.inputs[i], type, 1)))
      return std::nullopt;
  }
  if (!group.fits(activation_fault("the output", group.output, type, 1))) return std::nullopt;
  Node node = renamed(group, kMicrosoft, "QLinearWhere");
  node.inputs = {group.node.inputs[0]};
  append(group.graph, node, group.in(1));
  append(group.graph, node, group.in(2));
  append_output(group.graph, node, *group.output);
  return node;
}

// Whether Relu or Clip may come before the Q.
enum class LimitRule { kNone, kTaken, kTakenOfWords };

using Fuse = std::optional<Node> (*)(Group&);

struct FusionRule {
  std::string_view op_type;
  Fuse fuse = nullptr;        // for 8 bits; null: there is no such operator
  Fuse fuse_words = nullptr;  // where input 0 has 16 bits; null: as for 8
  LimitRule limits = LimitRule::kNone;
  std::size_t first = 0;  // the first input that has to come from a DQ

  Fuse of(const Group& group) const {
    return fuse_words != nullptr && has_words(group) ? fuse_words : fuse;
  }
};

constexpr FusionRule kFusionRules[] = {
    {"Conv", fuse_conv, fuse_conv16, LimitRule::kTaken},
    {"ConvTranspose", fuse_conv_transpose, fuse_conv_transpose16, LimitRule::kTaken},
    {"Gemm", fuse_gemm, fuse_gemm16, LimitRule::kTakenOfWords},
    {"MatMul", fuse_matmul, fuse_matmul16, LimitRule::kTakenOfWords},
    {"Add", fuse_binary, fuse_add16, LimitRule::kTaken},
    {"Mul", fuse_binary, fuse_mul16, LimitRule::kTaken},
    {"AveragePool", fuse_unary, fuse_pool16},
    {"GlobalAveragePool", fuse_unary, fuse_pool16},
    {"ReduceMean", nullptr, fuse_mean16},
    {"Softmax", fuse_unary},
    {"Sigmoid", fuse_unary},
    {"LeakyRelu", fuse_unary},
    {"Concat", fuse_concat, fuse_concat16},
    {"Where", fuse_where, nullptr, LimitRule::kNone, 1},
    {"Relu", nullptr, fuse_limit16},
    {"Clip", nullptr, fuse_limit16}};

const FusionRule* rule_for(const Node& node) {
  if (node.domain != kOnnx) return nullptr;
  const auto* found = std::ranges::find(kFusionRules, node.op_type, &FusionRule::op_type);
  return found == std::end(kFusionRules) ? nullptr : found;
}

class Fusion {
 public:
  Fusion(Graph& graph, Sink& sink, QdqGroups groups)
      : graph_(graph), sink_(sink), groups_(groups), wiring_(graph) {}

  int run() {
    int count = 0;
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      if (!wiring_.is_erased(i) && try_fuse(i)) ++count;
    }
    wiring_.finish();
    return count;
  }

 private:
  Node& node(int i) { return graph_.nodes[static_cast<std::size_t>(i)]; }

  // How the output is used: all by equal Qs, by no Q at all, or in a way that fits no group.
  enum class Uses { kQuantized, kFloat, kMixed };

  Uses uses_of(ValueId output, std::optional<QuantizedOperand>& operand) {
    const std::vector<int>& users = wiring_.consumers(output);
    const auto quantizes = [&](int user) { return is_quantize(node(user)); };
    if (std::ranges::none_of(users, quantizes)) return Uses::kFloat;
    if (wiring_.is_graph_output(output)) return Uses::kMixed;
    for (const int user : users) {
      const auto each = quantized_by(graph_, node(user));
      if (!each || (operand && !same_quantization(*operand, *each))) return Uses::kMixed;
      // Only one of several Qs keeps its value.
      if (operand && wiring_.is_graph_output(each->value)) return Uses::kMixed;
      if (!operand) operand = each;
    }
    return Uses::kQuantized;
  }

  // A Relu or Clip that is the only use of the group's result belongs to the group.
  void find_limit(Group& group) {
    const std::vector<int>& users = wiring_.consumers(group.result);
    if (users.size() != 1 || wiring_.is_graph_output(group.result)) return;
    const Node& user = node(users[0]);
    if (user.domain != kOnnx || (user.op_type != "Relu" && user.op_type != "Clip")) return;
    group.limit = &user;
    group.result = user.outputs[0];
  }

  // A QuantizeLinear of 16 bits after a DequantizeLinear.
  bool try_rescale(int i) {
    const Node* before = wiring_.producer(node(i).inputs[0]);
    if (before == nullptr) return false;
    auto fused = rescaled16(graph_, node(i), *before);
    Sink trial;
    if (!fused || !resolve_node(graph_, *fused, trial)) return false;
    graph_.fusions.fused(node(i), cat("became ", fused->op_type));
    wiring_.replace(i, std::move(*fused));
    return true;
  }

  bool try_fuse(int i) {
    if (is_quantize(node(i))) return try_rescale(i);
    const FusionRule* rule = rule_for(node(i));
    Group group{graph_, node(i), {}, std::nullopt, node(i).outputs[0], nullptr, {}, {}, groups_};
    for (const ValueId input : group.node.inputs) {
      const Node* before = wiring_.producer(input);
      group.inputs.push_back(before == nullptr ? std::nullopt : dequantized_by(graph_, *before));
    }
    const Fuse fuse = rule == nullptr ? nullptr : rule->of(group);
    if (fuse == nullptr) return miss(i, operator_fault(graph_, wiring_, node(i)));
    if (rule->limits == LimitRule::kTaken ||
        (rule->limits == LimitRule::kTakenOfWords && has_words(group)))
      find_limit(group);
    const ValueId output = group.result;
    const Uses uses = uses_of(output, group.output);
    if (uses != Uses::kQuantized) group.fault = output_fault(graph_, wiring_, output);
    if (uses == Uses::kMixed) return miss(i, group.fault);
    auto fused = fuse(group);
    // A float input says more about the group than what comes after it.
    const std::size_t first = rule->first;
    if (!fused && !group.inputs[first])
      group.fits(activation_fault(cat("input ", first), {}, DType::kU8));
    if (!fused) return miss(i, group.fault);
    fused->outputs = {group.output ? group.output->value : output};
    // The operator may have limits of its own (an extreme ratio of scales): then the group stays.
    Sink trial;
    if (!resolve_node(graph_, *fused, trial)) return miss(i, trial.sorted().front().message);
    if (fused->op_type == "QLinearMul" && product_may_leave_int32(params_of<QLinearBinary>(*fused)))
      return miss(i, "its products may leave int32, where QLinearMul does not saturate");
    if (group.limit != nullptr && fuse == fuse_binary &&
        !equals_floats(params_of<QLinearBinary>(*fused)))
      return miss(i, cat("a ", group.limit->op_type,
                         " limits it, and some pair of bytes would round otherwise"));
    graph_.fusions.fused(node(i), cat("became ", fused->op_type));
    if (!group.warning.message.empty()) sink_.report(std::move(group.warning));
    if (group.limit != nullptr) {
      graph_.fusions.fused(*group.limit, cat("became limits of ", fused->op_type));
      wiring_.erase(static_cast<int>(group.limit - graph_.nodes.data()));
    }
    replace(i, std::move(*fused), output);
    return true;
  }

  // Notes why node i stays float, unless it has nothing to do with quantization; false.
  bool miss(int i, std::string why) {
    const bool concerned = !is_quantize(node(i)) && !is_dequantize(node(i)) &&
                           is_beside_quantization(graph_, wiring_, node(i));
    if (concerned) graph_.fusions.missed(node(i), std::move(why));
    return false;
  }

  // Puts the integer node in place of the group whose float result is `output`.
  void replace(int i, Node fused, ValueId output) {
    const ValueId result = fused.outputs[0];
    if (result != output) {
      const std::vector<int> quantizers = wiring_.consumers(output);
      for (const int quantizer : quantizers) {
        const ValueId other = node(quantizer).outputs[0];
        wiring_.erase(quantizer);
        if (other != result) wiring_.redirect(other, result);
      }
    }
    wiring_.replace(i, std::move(fused));
  }

  Graph& graph_;
  Sink& sink_;
  QdqGroups groups_;
  Wiring wiring_;
};

}  // namespace

int fuse_qdq_groups(Graph& graph, Sink& sink, QdqGroups groups) {
  return Fusion(graph, sink, groups).run();
}

bool may_become_integers(const Node& node) { return rule_for(node) != nullptr; }

}  // namespace etch
