// Evaluates what is between two 16-bit tensors on all values of the first; see fuse_word_table.h.
#include "compiler/passes/fuse_word_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ir/dead_code.h"
#include "compiler/ops/activation/op.h"
#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/clip/op.h"
#include "compiler/ops/float_function/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/reference_math.h"
#include "compiler/ops/table16/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {
using Reals = std::vector<double>;  // one for each value of the type, or a single one for all

double limited_real(double x, double low, double high) { return std::min(std::max(x, low), high); }

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// Of the functions that networks have between quantized tensors; of others NaN, which is refused.
double real_function(const FloatFunction& f, double x) {
  const double alpha = double{f.alpha}, beta = double{f.beta};
  switch (f.function) {
    case Function::kAbs:
      return std::abs(x);
    case Function::kCelu:
      return x > 0 ? x : alpha * std::expm1(x / alpha);
    case Function::kElu:
      return x > 0 ? x : alpha * std::expm1(x);
    case Function::kErf:
      return std::erf(x);
    case Function::kExp:
      return std::exp(x);
    case Function::kGelu:
      return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
    case Function::kHardSigmoid:
      return limited_real(alpha * x + beta, 0, 1);
    case Function::kHardSwish:
      return x * limited_real(x / 6 + 0.5, 0, 1);
    case Function::kMish:
      return x * std::tanh(std::log1p(std::exp(x)));
    case Function::kNeg:
      return -x;
    case Function::kQuickGelu:
      return x * logistic(alpha * x);
    case Function::kSelu:
      return beta * (x > 0 ? x : alpha * std::expm1(x));
    case Function::kSoftplus:
      return std::log1p(std::exp(x));
    case Function::kSoftsign:
      return x / (1 + std::abs(x));
    case Function::kSqrt:
      return std::sqrt(x);
    case Function::kTanh:
      return std::tanh(x);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

double real_activation(const Activation& a, double x) {
  switch (a.kind) {
    case Activation::Kind::kRelu:
      return std::max(x, 0.0);
    case Activation::Kind::kLeakyRelu:
      return x >= 0 ? x : double{a.alpha} * x;
    case Activation::Kind::kSigmoid:
      return logistic(x);
    default:
      return std::nearbyint(x);
  }
}

double real_arithmetic(Arithmetic::Kind kind, double a, double b) {
  switch (kind) {
    case Arithmetic::Kind::kAdd:
      return a + b;
    case Arithmetic::Kind::kSub:
      return a - b;
    case Arithmetic::Kind::kMul:
      return a * b;
    case Arithmetic::Kind::kDiv:
      return a / b;
    case Arithmetic::Kind::kMax:
      return std::max(a, b);
    case Arithmetic::Kind::kMin:
      return std::min(a, b);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

// What one QuantizeLinear gives, traced back to the only tensor that it comes from.
class WordFunction {
 public:
  WordFunction(const Graph& graph, const Wiring& wiring, Shape shape)
      : graph_(graph), wiring_(wiring), shape_(std::move(shape)) {}

  // The value `id` for all values of the root; null if it is none of what this pass knows.
  const Reals* of(ValueId id) {
    if (const auto found = known_.find(id); found != known_.end()) return &found->second;
    auto reals = constant(id);
    if (!reals && depth_ < kMostValues) {
      ++depth_;
      reals = computed(id);
      --depth_;
    }
    if (!reals || !std::ranges::all_of(*reals, [](double x) { return std::isfinite(x); }))
      return nullptr;
    return &(known_[id] = std::move(*reals));
  }

  // How many values were computed.
  std::size_t work() const { return known_.size(); }
  const std::optional<QuantizedOperand>& root() const { return root_; }
  // The operators in between.
  const std::vector<const Node*>& nodes() const { return nodes_; }

 private:
  std::optional<Reals> constant(ValueId id) const {
    const auto& tensor = graph_.value(id).constant;
    if (tensor == nullptr || tensor->size() != 1 || tensor->dtype() != DType::kF32) return {};
    return Reals{tensor->real(0)};
  }

  std::optional<Reals> computed(ValueId id) {
    const Node* const node = wiring_.producer(id);
    if (node == nullptr || *graph_.value(id).shape != shape_ || known_.size() > kMostValues)
      return {};
    if (is_dequantize(*node)) return rooted(*node);
    const bool known = node->domain == kOnnx || node->domain == kMicrosoft;
    if (!known || !is_pointwise(*node) || graph_.value(id).dtype != DType::kF32) return {};
    std::vector<const Reals*> inputs;
    // Clip has its limits as parameters.
    const bool clips = std::any_cast<Clip>(&node->params) != nullptr;
    for (const ValueId input : clips ? std::vector<ValueId>{node->inputs[0]} : node->inputs) {
      const Reals* const reals = input == kNoValue ? nullptr : of(input);
      if (reals == nullptr) return {};
      inputs.push_back(reals);
    }
    auto out = applied(*node, inputs);
    if (out) nodes_.push_back(node);
    return out;
  }

  std::optional<Reals> rooted(const Node& node) {
    const auto x = dequantized_by(graph_, node);
    if (!x || !x->is_word() || !x->per_tensor()) return {};
    if (root_ && root_->value != x->value) return {};
    root_ = x;
    Reals out(kTable16Entries);
    const auto first = static_cast<double>(min_of(x->dtype) - x->quantization.zero_point_at(0));
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = (first + static_cast<double>(i)) * double{x->quantization.scale_at(0)};
    return out;
  }

  template <class F>
  static Reals mapped(const Reals& a, const Reals& b, F f) {
    Reals out(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    return out;
  }

  static std::optional<Reals> applied(const Node& node, const std::vector<const Reals*>& inputs) {
    const Reals& x = *inputs[0];
    if (const auto* arithmetic = std::any_cast<Arithmetic>(&node.params)) {
      Reals out = x;
      for (std::size_t i = 1; i < inputs.size(); ++i) {
        out = mapped(out, *inputs[i],
                     [&](double a, double b) { return real_arithmetic(arithmetic->kind, a, b); });
      }
      return out;
    }
    const auto each = [&](auto f) { return mapped(x, x, [&](double a, double) { return f(a); }); };
    if (const auto* f = std::any_cast<FloatFunction>(&node.params))
      return each([&](double a) { return real_function(*f, a); });
    if (const auto* f = std::any_cast<Activation>(&node.params))
      return each([&](double a) { return real_activation(*f, a); });
    if (const auto* f = std::any_cast<Clip>(&node.params))
      return each([&](double a) { return std::min(std::max(a, f->low), f->high); });
    return {};
  }

  static constexpr std::size_t kMostValues = 32;  // of half a megabyte each
  const Graph& graph_;
  const Wiring& wiring_;
  Shape shape_;
  std::map<ValueId, Reals> known_;
  std::size_t depth_ = 0;  // of the chain so far
  std::optional<QuantizedOperand> root_;
  std::vector<const Node*> nodes_;
};

std::vector<std::int32_t> rounded_words(const Reals& reals, const QuantizedOperand& y) {
  std::vector<std::int32_t> out;
  out.reserve(reals.size());
  const double scale = double{y.quantization.scale_at(0)};
  const double zero = y.quantization.zero_point_at(0);
  const auto low = static_cast<double>(min_of(y.dtype)),
             high = static_cast<double>(max_of(y.dtype));
  for (const double real : reals) {
    const double q = std::nearbyint(real / scale) + zero;
    out.push_back(static_cast<std::int32_t>(limited_real(q, low, high)));
  }
  return out;
}

std::string names_of(const std::vector<const Node*>& nodes) {
  std::string out;
  for (const Node* node : nodes) out += cat(out.empty() ? "" : ", ", node->op_type);
  return out;
}

constexpr std::size_t kFitting = 32;  // 2 to 50 ms; a network has less than 200 such functions

// Table16 in place of `quantize`, if it is one of a function that this pass knows. `work` is how
// many values may still be computed.
std::optional<Node> table_instead(Graph& graph, const Wiring& wiring, const Node& quantize,
                                  std::size_t& work) {
  const auto to = quantized_by(graph, quantize);
  if (!to || !to->is_word() || !to->per_tensor()) return {};
  WordFunction function(graph, wiring, *graph.value(quantize.inputs[0]).shape);
  const Reals* const reals = function.of(quantize.inputs[0]);
  work -= std::min(work, function.work());
  const bool found =
      reals != nullptr && reals->size() == kTable16Entries && !function.nodes().empty();
  if (!found || function.root()->dtype != to->dtype) return {};
  const std::vector<std::int32_t> results = rounded_words(*reals, *to);
  work -= std::min(work, kFitting);
  if (table16_bytes(results) > kMostTableBytes) return {};
  Node node;
  node.index = quantize.index;
  node.name = quantize.name;
  node.domain = kEtch;
  node.op_type = "Table16";
  node.attributes["of"] = names_of(function.nodes());
  graph.opsets.emplace(kEtch, 1);
  const ValueId table = graph.add_constant(narrowed(to->dtype, {kTable16Entries}, results));
  node.inputs = {function.root()->value, table};
  node.outputs = quantize.outputs;
  Sink none;
  ETCH_CHECK(resolve_node(graph, node, none));
  for (const Node* each : function.nodes())
    graph.fusions.fused(*each, "became a look-up in a table of 16-bit values");
  return node;
}
}  // namespace

void fuse_word_table(Graph& graph) {
  // Some ten seconds at most, for what no network has.
  std::size_t work = 8192;
  Wiring wiring(graph);
  for (int i = 0; i < static_cast<int>(graph.nodes.size()) && work > 0; ++i) {
    const Node& node = graph.nodes[static_cast<std::size_t>(i)];
    if (!is_quantize(node)) continue;
    auto table = table_instead(graph, wiring, Node(node), work);
    if (table) wiring.replace(i, std::move(*table));
  }
  wiring.finish();
  remove_dead(graph);
}

}  // namespace etch
