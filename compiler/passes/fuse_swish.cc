// See fuse_swish.h.
#include "compiler/passes/fuse_swish.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

// The function that a product is, and the nodes that become superfluous.
struct Swish {
  std::string_view domain, op_type;
  std::optional<float> alpha;
  std::vector<int> between;
};

class SwishFusion {
 public:
  explicit SwishFusion(Graph& graph) : graph_(graph), wiring_(graph) {}

  void run() {
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      const Node& product = node(i);
      if (wiring_.is_erased(i) || !is(product, "Mul") || is_quantized_next(product)) continue;
      for (const std::size_t side : {0U, 1U}) {
        const std::optional<Swish> swish = swish_of(product.inputs[side], product.inputs[1 - side]);
        if (!swish) continue;
        replace(i, product.inputs[side], *swish);
        break;
      }
    }
    wiring_.finish();
  }

 private:
  const Node& node(int i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }

  bool is(const Node& node, std::string_view op_type) const {
    return node.op_type == op_type && node.domain == kOnnx &&
           graph_.value(node.outputs[0]).dtype == DType::kF32;
  }

  bool is_quantized_next(const Node& product) const {
    const std::vector<int>& readers = wiring_.consumers(product.outputs[0]);
    return std::ranges::any_of(
        readers, [&](int reader) { return node(reader).op_type == "DynamicQuantizeLinear"; });
  }

  // The node of this type that makes `id` for a single reader, or -1.
  int only_producer(ValueId id, std::string_view op_type) const {
    const Node* const found = wiring_.only_producer(id);
    const bool good = found != nullptr && is(*found, op_type);
    return good ? static_cast<int>(found - graph_.nodes.data()) : -1;
  }

  // What the product of `x` and `gate` is.
  std::optional<Swish> swish_of(ValueId x, ValueId gate) const {
    if (const int tanh = only_producer(gate, "Tanh"); tanh >= 0) {
      const int softplus = only_producer(node(tanh).inputs[0], "Softplus");
      if (softplus < 0 || node(softplus).inputs[0] != x) return std::nullopt;
      return Swish{kOnnx, "Mish", std::nullopt, {softplus, tanh}};
    }
    const int sigmoid = only_producer(gate, "Sigmoid");
    if (sigmoid < 0) return std::nullopt;
    if (node(sigmoid).inputs[0] == x) return Swish{kMicrosoft, "QuickGelu", 1.0F, {sigmoid}};
    const int scaled = only_producer(node(sigmoid).inputs[0], "Mul");
    const auto alpha = scaled < 0 ? std::nullopt : factor_of(node(scaled), x);
    if (!alpha) return std::nullopt;
    return Swish{kMicrosoft, "QuickGelu", *alpha, {scaled, sigmoid}};
  }

  // The constant that a product has beside `x`, whose shape it keeps.
  std::optional<float> factor_of(const Node& product, ValueId x) const {
    if (graph_.value(product.outputs[0]).shape != graph_.value(x).shape) return std::nullopt;
    for (const std::size_t side : {0U, 1U}) {
      const auto& factor = graph_.value(product.inputs[1 - side]).constant;
      if (product.inputs[side] != x || factor == nullptr || factor->size() != 1) continue;
      const float value = factor->as<float>()[0];
      return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
    return std::nullopt;
  }

  void replace(int at, ValueId x, const Swish& swish) {
    Node fused;
    fused.index = node(at).index;
    fused.name = node(at).name;
    fused.domain = swish.domain;
    fused.op_type = swish.op_type;
    if (swish.alpha) fused.attributes["alpha"] = *swish.alpha;
    fused.inputs = {x};
    fused.outputs = node(at).outputs;
    Sink none;
    ETCH_CHECK(resolve_node(graph_, fused, none));
    for (const int i : swish.between) wiring_.erase(i);
    graph_.opsets.emplace(fused.domain, 1);
    wiring_.replace(at, std::move(fused));
  }

  Graph& graph_;
  Wiring wiring_;
};

}  // namespace

void fuse_swishes(Graph& graph) { SwishFusion(graph).run(); }

}  // namespace etch
