// See fuse_add.h.
#include "compiler/passes/fuse_add.h"

#include <optional>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/ops/qlinear_conv/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

constexpr std::size_t kA = 0, kB = 3;  // inputs of QLinearAdd

class AddFusion {
 public:
  explicit AddFusion(Graph& graph) : graph_(graph), wiring_(graph) {}

  void run() {
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      if (graph_.nodes[static_cast<std::size_t>(i)].op_type == "QLinearAdd") fuse(i);
    }
    wiring_.finish();
  }

 private:
  const Node& node(int i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }
  int index_of(const Node& node) const { return static_cast<int>(&node - graph_.nodes.data()); }

  bool all_constant(const Node& node, std::size_t first) const {
    for (std::size_t i = first; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      if (graph_.value(node.inputs[i]).constant == nullptr) return false;
    }
    return true;
  }

  // The convolution that makes `id`, if it can add something to its result; the sum takes `id` as
  // quantized `as`, which the file may say otherwise than the convolution.
  std::optional<int> convolution_of(ValueId id, const ScalarQuantization& as) const {
    const Node* const before = wiring_.producer(id);
    if (before == nullptr || before->op_type != "QLinearConv" || before->domain == kNhwc)
      return std::nullopt;
    if (wiring_.consumers(id).size() != 1 || wiring_.is_graph_output(id)) return std::nullopt;
    const auto& conv = params_of<QLinearConvParams>(*before);
    const bool one_group = conv.geometry.group == 1;
    const bool computes = graph_.value(before->inputs[0]).constant == nullptr;
    if (!one_group || !computes || !all_constant(*before, 1)) return std::nullopt;
    const bool same = conv.y->scale_at(0) == as.scale && conv.y->zero_point_at(0) == as.zero_point;
    return same ? std::optional(index_of(*before)) : std::nullopt;
  }

  // Why no convolution can take over a sum of these summands, or nothing.
  std::optional<std::string> obstacle(const QLinearBinary& params, const Node& add) const {
    if (params.at_run_time) return "its scales are known only at run time";
    if (graph_.value(add.inputs[kA]).shape != graph_.value(add.inputs[kB]).shape)
      return "one summand is broadcast";
    for (const std::size_t side : {kA, kB}) {
      if (graph_.value(add.inputs[side]).constant != nullptr) return "one summand is constant";
    }
    return std::nullopt;
  }

  // Whether the convolution, if it runs in the place of node i, keeps more alive until then.
  bool keeps_more(int conv, int i) const {
    const auto size = [&](ValueId id) { return element_count(*graph_.value(id).shape); };
    return i - conv > 1 && size(node(conv).inputs[0]) > size(node(conv).outputs[0]);
  }

  void fuse(int i) {
    const Node& add = node(i);
    const auto& params = params_of<QLinearBinary>(add);
    if (const auto why = obstacle(params, add)) return graph_.fusions.missed(add, *why);
    const std::optional<int> a = convolution_of(add.inputs[kA], params.a);
    const std::optional<int> b = convolution_of(add.inputs[kB], params.b);
    if (!a && !b) {
      graph_.fusions.missed(
          add,
          "no summand comes, quantized alike, from a convolution of one group that nothing else "
          "reads");
      return;
    }
    const bool take_b = b && (!a || *b > *a);
    const int conv = take_b ? *b : *a;
    if (keeps_more(conv, i)) {
      graph_.fusions.missed(
          add,
          cat(title(node(conv)), " would have to wait, and its input is larger than its result"));
      return;
    }
    Node fused = fused_node(node(conv), add, take_b);
    Sink none;
    ETCH_CHECK(resolve_node(graph_, fused, none));
    graph_.fusions.fused(add, cat("is added by ", title(node(conv)), " before it stores"));
    wiring_.erase(conv);
    wiring_.replace(i, std::move(fused));
  }

  static std::string title(const Node& node) {
    return node.name.empty() ? cat(node.op_type, " #", node.index)
                             : cat(node.op_type, " '", printable(node.name), "'");
  }

  static Node fused_node(const Node& conv, const Node& add, bool conv_is_b) {
    const auto& params = params_of<QLinearBinary>(add);
    const std::size_t other = conv_is_b ? kA : kB;
    Node out = conv;
    out.domain = kEtch;
    out.op_type = "QLinearConvAdd";
    if (!conv.name.empty() && !add.name.empty()) out.name = cat(conv.name, " + ", add.name);
    out.op = nullptr;
    out.params.reset();
    out.inputs.resize(9, kNoValue);
    for (std::size_t i = other; i < other + 3; ++i) out.inputs.push_back(add.inputs[i]);
    for (std::size_t i = 6; i < add.inputs.size(); ++i) out.inputs.push_back(add.inputs[i]);
    out.outputs = add.outputs;
    if (params.low > min_of(params.dtype) || params.high < max_of(params.dtype)) {
      out.attributes["sum_low"] = std::int64_t{params.low};
      out.attributes["sum_high"] = std::int64_t{params.high};
    }
    // Input A has the role of a, unless they are exchanged.
    out.attributes["residual_is_a"] = std::int64_t{conv_is_b != params.swapped ? 1 : 0};
    return out;
  }

  Graph& graph_;
  Wiring wiring_;
};

}  // namespace

void fuse_adds(Graph& graph) {
  graph.opsets.emplace(kEtch, 1);
  AddFusion(graph).run();
}

}  // namespace etch
