// See fold_pad.h.
#include "compiler/passes/fold_pad.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/ops/pad/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/padding.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

// The zero point of input `i`, or nothing when it is not one constant; omitted: 0.
std::optional<std::int64_t> zero_point(const Graph& graph, const Node& node, std::size_t i) {
  if (i >= node.inputs.size() || node.inputs[i] == kNoValue) return 0;
  const auto& constant = graph.value(node.inputs[i]).constant;
  if (constant == nullptr || constant->size() != 1) return std::nullopt;
  return constant->integer(0);
}

bool is_least(const Tensor& value) {
  if (value.dtype() == DType::kF32) return value.real(0) == -std::numeric_limits<float>::infinity();
  return is_8bit(value.dtype()) && value.integer(0) == min_of(value.dtype());
}

// Whether one window of a pooling covers everything.
bool is_global(const Graph& graph, const Node& node) {
  const Shape& shape = *graph.value(node.outputs[0]).shape;
  return std::all_of(shape.begin() + 2, shape.end(), [](auto size) { return size == 1; });
}

// Counting what surrounds the image changes nothing when no other padding is left uncounted.
bool may_count_padding(const Graph& graph, const Node& node, const Padding& pads) {
  const bool none = std::all_of(pads.begin(), pads.end(), [](auto pad) { return pad == 0; });
  const bool counted = int_attribute(node, "count_include_pad", 0) != 0;
  return (none || counted) && int_attribute(node, "ceil_mode", 0) == 0 && !is_global(graph, node);
}

// 0 times these is 0, so that padding adds nothing to a sum.
bool has_finite_weights(const Graph& graph, const Node& conv) {
  const auto& weights = graph.value(conv.inputs[1]).constant;
  return weights != nullptr &&
         std::ranges::all_of(weights->as<float>(), [](float w) { return std::isfinite(w); });
}

bool pads_with_nothing(const Graph& graph, const Node& node, const Tensor& value,
                       const Padding& pads) {
  const bool zero = value.dtype() == DType::kF32 && value.real(0) == 0.0F;
  if (node.op_type == "Conv") return zero && has_finite_weights(graph, node);
  if (node.op_type == "QLinearConv" || node.op_type == "ConvInteger") {
    const auto x = zero_point(graph, node, 2);
    return x && value.integer(0) == *x;
  }
  if (node.op_type == "AveragePool") return zero && may_count_padding(graph, node, pads);
  if (node.op_type == "QLinearAveragePool") {
    const auto x = zero_point(graph, node, 2);
    return x && value.integer(0) == *x && may_count_padding(graph, node, pads);
  }
  // Rounding up, windows that start after the image are left out, but not those of a larger one.
  return node.op_type == "MaxPool" && is_least(value) && int_attribute(node, "ceil_mode", 0) == 0;
}

// Only spatial axes, and nothing removed.
bool surrounds_only(const Pad& pad, const Shape& from) {
  if (pad.mode != Pad::Mode::kConstant || from.size() < 3) return false;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const PadAxis& axis = pad.axes[d];
    if (axis.size != from[d]) return false;
    if (d < 2 && (axis.begin > 0 || axis.end > 0)) return false;
  }
  return true;
}

// The node with the padding of `pad` added to its own, reading the input of the Pad.
Node with_padding(const Node& node, const Node& pad_node, const Pad& pad, Padding pads) {
  const std::size_t spatial = pad.axes.size() - 2;
  for (std::size_t d = 0; d < spatial; ++d) {
    pads[d] += pad.axes[d + 2].begin;
    pads[d + spatial] += pad.axes[d + 2].end;
  }
  Node out = with_pads(node, std::move(pads));
  out.inputs[0] = pad_node.inputs[0];
  if (node.op_type.ends_with("AveragePool")) out.attributes["count_include_pad"] = std::int64_t{1};
  return out;
}

// The Pad of spatial axes before a node that alone reads it, or null.
const Node* pad_before(const Graph& graph, const Wiring& wiring, const Node& node) {
  const Node* const before = node.inputs.empty() ? nullptr : wiring.only_producer(node.inputs[0]);
  if (before == nullptr || before->op_type != "Pad") return nullptr;
  const bool surrounds =
      surrounds_only(params_of<Pad>(*before), *graph.value(before->inputs[0]).shape);
  return surrounds ? before : nullptr;
}

// The node after it has taken over the Pad before it, or nothing.
std::optional<Node> taken_over(Graph& graph, const Wiring& wiring, const Node& node) {
  const Node* const before = pad_before(graph, wiring, node);
  if (before == nullptr) return std::nullopt;
  const auto& pad = params_of<Pad>(*before);
  if (pads_itself(node) || int_attribute(node, "channels_last", 0) != 0) return std::nullopt;
  if (node.domain == kNhwc) return std::nullopt;
  const Padding pads = pads_of(node, pad.axes.size() - 2);
  if (pads.size() != 2 * (pad.axes.size() - 2)) return std::nullopt;
  if (!pads_with_nothing(graph, node, pad.value, pads)) return std::nullopt;
  const std::optional<Shape> shape = graph.value(node.outputs[0]).shape;
  Node out = with_padding(node, *before, pad, pads);
  Sink trial;  // the operator may not take so much padding
  if (!resolve_node(graph, out, trial)) return std::nullopt;
  ETCH_CHECK(graph.value(node.outputs[0]).shape == shape);
  graph.fusions.fused(*before, "is the padding of what reads it");
  return out;
}

}  // namespace

void fold_pads(Graph& graph) {
  Wiring wiring(graph);
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    auto node = taken_over(graph, wiring, graph.nodes[static_cast<std::size_t>(i)]);
    if (node) wiring.replace(i, std::move(*node));
  }
  wiring.finish();
}

}  // namespace etch
