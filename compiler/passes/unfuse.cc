// See unfuse.h.
#include "compiler/passes/unfuse.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {

using Attributes = std::map<std::string, Attribute>;

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

class Parts {
 public:
  Parts(Graph& graph, const Node& node, Sink& sink)
      : graph_(graph), node_(node), attributes_(node.attributes), sink_(sink) {}

  // The parts so far, the last of which gives output 0. Attributes that no part took are reported.
  std::vector<Node> finish() {
    for (const auto& [name, value] : attributes_)
      fail(DiagKind::kAttr, cat("attribute '", printable(name), "' is not known"));
    if (failed_ || parts_.empty()) return {};
    parts_.back().outputs[0] = node_.outputs[0];
    return std::move(parts_);
  }

  ValueId input(std::size_t i) const {
    return i < node_.inputs.size() ? node_.inputs[i] : kNoValue;
  }
  // False after a report when input i is missing.
  bool needs(std::size_t i) {
    if (input(i) != kNoValue) return true;
    fail(DiagKind::kGraph, cat("input ", i, " is required, but omitted"));
    return false;
  }
  std::size_t rank(ValueId id) const { return graph_.value(id).shape->size(); }
  ValueId output(std::size_t i) const {
    return i < node_.outputs.size() ? node_.outputs[i] : kNoValue;
  }

  // Takes an attribute, or `fallback` where it is absent or, after a report, of another type.
  template <class T>
  T take(const char* name, T fallback) {
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) return fallback;
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr) fail(DiagKind::kAttr, cat("attribute '", name, "' has a wrong type"));
    T out = value == nullptr ? fallback : *value;
    attributes_.erase(found);
    return out;
  }
  bool has(const char* name) const { return attributes_.contains(name); }
  // All that are left, for a part to check.
  Attributes take_all() { return std::exchange(attributes_, {}); }

  ValueId add(const char* type, std::vector<ValueId> inputs, Attributes attributes = {}) {
    while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
    Node part;
    part.index = node_.index;
    part.name = node_.name;
    part.op_type = type;
    part.inputs = std::move(inputs);
    part.outputs = {graph_.add_value({})};
    part.attributes = std::move(attributes);
    parts_.push_back(std::move(part));
    return parts_.back().outputs[0];
  }
  // The last part gives the value `id`.
  void name_last(ValueId id) { parts_.back().outputs[0] = id; }

  ValueId scalar(float value) { return graph_.add_constant(Tensor::of<float>({}, {value})); }

  // The activation of `x` with up to two parameters; those absent have its own defaults.
  void activate(ValueId x, const std::string& type, const std::vector<float>& parameters) {
    const auto* known = std::ranges::find(kActivations, type, &ActivationSpelling::op_type);
    if (known == std::end(kActivations)) {
      fail(DiagKind::kUnsupported, cat("the activation '", printable(type), "' is not supported"));
      return;
    }
    Attributes attributes;
    const char* const names[] = {known->first, known->second};
    for (std::size_t i = 0; i < 2 && i < parameters.size(); ++i) {
      if (names[i] != nullptr) attributes[names[i]] = parameters[i];
    }
    if (type != "Clip" || graph_.opset("") < 11) {
      add(known->op_type.data(), {x}, std::move(attributes));
      return;
    }
    std::vector<ValueId> inputs{x};
    for (const char* const name : names)
      inputs.push_back(attributes.contains(name) ? scalar(std::get<float>(attributes[name]))
                                                 : kNoValue);
    add("Clip", std::move(inputs));
  }

  void fail(DiagKind kind, std::string what) {
    failed_ = true;
    sink_.report({Severity::kError, kind, node_.index, location_of(node_), std::move(what)});
  }

 private:
  Graph& graph_;
  const Node& node_;
  Attributes attributes_;
  Sink& sink_;
  std::vector<Node> parts_;
  bool failed_ = false;
};

void conv(Parts& parts) {
  const auto type = parts.take<std::string>("activation", "");
  const auto parameters = parts.take<std::vector<float>>("activation_params", {});
  ValueId y = parts.add("Conv", {parts.input(0), parts.input(1), parts.input(2)}, parts.take_all());
  if (parts.input(3) != kNoValue) y = parts.add("Add", {y, parts.input(3)});
  if (!type.empty()) parts.activate(y, type, parameters);
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
  if (!type.empty()) parts.activate(y, type, parameters);
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

void skip_layer_normalization(Parts& parts) {
  if (!parts.needs(1) || !parts.needs(2)) return;
  const auto epsilon = parts.take<float>("epsilon", 1e-12F);
  ValueId sum = parts.add("Add", {parts.input(0), parts.input(1)});
  if (parts.input(4) != kNoValue) sum = parts.add("Add", {sum, parts.input(4)});
  if (parts.output(1) != kNoValue || parts.output(2) != kNoValue)
    parts.fail(DiagKind::kUnsupported, "mean and deviation as outputs are not supported");
  if (parts.output(3) != kNoValue) parts.name_last(sum = parts.output(3));
  parts.add("LayerNormalization", {sum, parts.input(2), parts.input(3)}, {{"epsilon", epsilon}});
}

struct Rule {
  std::string_view op_type;
  void (*write)(Parts&);
  std::size_t most_inputs, most_outputs;
};

constexpr Rule kRules[] = {{"FusedConv", conv, 4, 1},
                           {"FusedGemm", gemm, 3, 1},
                           {"FusedMatMul", matmul, 2, 1},
                           {"TransposeMatMul", matmul, 2, 1},
                           {"BiasGelu", [](Parts& parts) { gelu(parts, "none"); }, 2, 1},
                           {"FastGelu", [](Parts& parts) { gelu(parts, "tanh"); }, 2, 1},
                           {"SkipLayerNormalization", skip_layer_normalization, 5, 4}};

const Rule* rule_for(const Node& node) {
  if (node.domain != kMicrosoft) return nullptr;
  const auto* found = std::ranges::find(kRules, node.op_type, &Rule::op_type);
  return found == std::end(kRules) ? nullptr : found;
}

// False after a report when more values are listed than the parts take or give.
bool has_at_most(Parts& parts, std::size_t most, const char* role,
                 const std::vector<ValueId>& ids) {
  if (ids.size() <= most) return true;
  parts.fail(DiagKind::kGraph, cat("must have at most ", most, " ", role, "s, has ", ids.size()));
  return false;
}

}  // namespace

bool is_fused(const Node& node) { return rule_for(node) != nullptr; }

std::vector<Node> unfused(Graph& graph, const Node& node, Sink& sink) {
  const Rule& rule = *rule_for(node);
  Parts parts(graph, node, sink);
  const bool inputs_good = has_at_most(parts, rule.most_inputs, "input", node.inputs);
  const bool outputs_good = has_at_most(parts, rule.most_outputs, "output", node.outputs);
  if (!inputs_good || !outputs_good || !parts.needs(0)) return {};
  if (node.outputs.empty() || node.outputs[0] == kNoValue) {
    parts.fail(DiagKind::kGraph, "output 0 is required, but omitted");
    return {};
  }
  rule.write(parts);
  std::vector<Node> out = parts.finish();
  std::string types;
  for (const Node& part : out) types += cat(types.empty() ? "" : ", ", part.op_type);
  if (!out.empty()) graph.fusions.fused(node, cat("is computed as ", types));
  return out;
}

}  // namespace etch
