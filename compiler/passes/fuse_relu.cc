// See fuse_relu.h.
#include "compiler/passes/fuse_relu.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ops/clip/op.h"
#include "compiler/ops/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

// The convolution that makes `value` and can take over what reads it, or null.
const Node* convolution_of(const Wiring& wiring, ValueId value) {
  const Node* const conv = wiring.only_producer(value);
  const bool is_conv = conv != nullptr && conv->op_type == "Conv" && conv->domain == kOnnx;
  return is_conv ? conv : nullptr;
}

// The limit of what a Relu, or a Clip that begins with 0, lets pass; nothing for other nodes.
std::optional<float> limit_of(const Node& node) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  if (node.domain != kOnnx) return std::nullopt;
  if (node.op_type == "Relu") return kNone;
  if (node.op_type != "Clip") return std::nullopt;
  const Clip& clip = params_of<Clip>(node);
  if (clip.low != 0 || std::signbit(clip.low) || !(clip.high >= 0)) return std::nullopt;
  return static_cast<float>(clip.high);
}

Node fused_node(const Node& conv, const Node& relu, float limit) {
  Node out = conv;
  out.domain = kEtch;
  out.op_type = "ConvRelu";
  if (std::isfinite(limit)) out.attributes["most"] = limit;
  if (!conv.name.empty() && !relu.name.empty()) out.name = cat(conv.name, " + ", relu.name);
  out.op = nullptr;
  out.params.reset();
  out.outputs = relu.outputs;
  return out;
}

// The constant `id` as a bias, if it has one element or one per channel of `shape`; else null.
std::optional<Tensor> as_bias(const Graph& graph, ValueId id, const Shape& shape) {
  const Value& value = graph.value(id);
  if (value.constant == nullptr || value.dtype != DType::kF32) return std::nullopt;
  const Shape& own = *value.shape;
  if (own.size() > shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < own.size(); ++d) {
    const std::size_t along = d + shape.size() - own.size();
    if (own[d] != 1 && (along != 1 || own[d] != shape[1])) return std::nullopt;
  }
  const auto from = value.constant->as<float>();
  Tensor bias(DType::kF32, {shape[1]});
  const auto to = bias.as<float>();
  for (std::size_t c = 0; c < to.size(); ++c) to[c] = from[from.size() == 1 ? 0 : c];
  return bias;
}

// Makes the constant that node `i` adds to a convolution's result its bias; false: it is no such
// sum.
bool take_sum(Graph& graph, Wiring& wiring, int i) {
  const Node add = graph.nodes[static_cast<std::size_t>(i)];
  if (add.op_type != "Add" || add.domain != kOnnx) return false;
  for (const std::size_t side : {0U, 1U}) {
    const Node* const conv = convolution_of(wiring, add.inputs[side]);
    if (conv == nullptr || conv->inputs.size() > 2) continue;
    const Shape shape = *graph.value(add.inputs[side]).shape;
    if (shape != *graph.value(add.outputs[0]).shape) continue;
    std::optional<Tensor> bias = as_bias(graph, add.inputs[1 - side], shape);
    if (!bias) continue;
    const auto at = static_cast<int>(conv - graph.nodes.data());
    Node fused = *conv;
    fused.op = nullptr;
    fused.params.reset();
    fused.outputs = add.outputs;
    fused.inputs.push_back(graph.add_constant(std::move(*bias)));
    Sink none;
    ETCH_CHECK(resolve_node(graph, fused, none));
    wiring.erase(i);
    wiring.replace(at, std::move(fused));
    return true;
  }
  return false;
}

void fuse_sums(Graph& graph) {
  Wiring wiring(graph);
  bool any = false;
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i)
    any = take_sum(graph, wiring, i) || any;
  if (any) wiring.finish();
}

}  // namespace

void fuse_relus(Graph& graph) {
  fuse_sums(graph);
  graph.opsets.emplace(kEtch, 1);
  Wiring wiring(graph);
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    const Node& relu = graph.nodes[static_cast<std::size_t>(i)];
    const std::optional<float> limit = limit_of(relu);
    if (!limit) continue;
    const Node* const conv = convolution_of(wiring, relu.inputs[0]);
    if (conv == nullptr) continue;
    const auto at = static_cast<int>(conv - graph.nodes.data());
    Node fused = fused_node(*conv, relu, *limit);
    Sink none;
    ETCH_CHECK(resolve_node(graph, fused, none));
    wiring.erase(i);
    wiring.replace(at, std::move(fused));
  }
  wiring.finish();
}

}  // namespace etch
