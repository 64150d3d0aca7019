// See fold_slice.h.
#include "compiler/passes/fold_slice.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/padding.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

constexpr std::size_t kMostBetween = 8;  // operators between convolution and Slice

// What is cut off at both ends of an axis.
struct Cut {
  std::int64_t begin = 0, end = 0;
  bool any() const { return begin != 0 || end != 0; }
};

bool is_transposed(const Node& node) {
  return is_one_of(node.op_type,
                   {"ConvTranspose", "QLinearConvTranspose", "QLinearConvTranspose16"});
}

bool is_convolution(const Node& node) {
  const bool plain =
      is_one_of(node.op_type, {"Conv", "QLinearConv", "ConvInteger", "QLinearConv16"});
  return (plain || is_transposed(node)) && node.domain != kNhwc &&
         int_attribute(node, "channels_last", 0) == 0;
}

// Of a Slice that keeps neighbours of spatial axes, and not all of them; of any other nothing.
std::optional<std::vector<Cut>> cuts_of(const Node& slice, const Shape& from) {
  const auto& params = params_of<StridedCopy>(slice);
  const std::vector<AxisRange> ranges = ranges_of(params.view, from);
  std::vector<Cut> out(from.size());
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::int64_t kept = params.shape[d];
    if (kept == 0 || (ranges[d].step != 1 && kept > 1)) return std::nullopt;
    out[d] = {ranges[d].start, from[d] - ranges[d].start - kept};
    if (d < 2 && out[d].any()) return std::nullopt;
  }
  const bool any = std::ranges::any_of(out, &Cut::any);
  return any ? std::optional(std::move(out)) : std::nullopt;
}

// The padding with which a convolution does not make what is cut, or nothing.
std::optional<Padding> cropped(const Node& conv, const std::vector<Cut>& cuts) {
  const std::size_t spatial = cuts.size() - 2;
  if (pads_itself(conv) || conv.attributes.contains("output_shape")) return std::nullopt;
  Padding pads = pads_of(conv, spatial);
  const Padding strides = strides_of(conv, spatial);
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t per_output = is_transposed(conv) ? -1 : strides[d];
    pads[d] -= cuts[d + 2].begin * per_output;
    // Less than none at the end may be what the stride leaves over.
    const bool changed = cuts[d + 2].end != 0;
    std::int64_t& end = pads[d + spatial];
    if (changed) end = std::max<std::int64_t>(0, end - cuts[d + 2].end * per_output);
  }
  const bool less_than_none = std::ranges::any_of(pads, [](auto pad) { return pad < 0; });
  return less_than_none ? std::nullopt : std::optional(std::move(pads));
}

class SliceFolding {
 public:
  explicit SliceFolding(Graph& graph) : graph_(graph), wiring_(graph) {}

  void run() {
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      if (graph_.nodes[static_cast<std::size_t>(i)].op_type == "Slice" && !wiring_.is_erased(i))
        fold(i);
    }
    wiring_.finish();
  }

 private:
  const Shape& shape_of(ValueId id) const { return *graph_.value(id).shape; }
  const Node& node(int i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }

  // Whether an operand is the same at all positions that differ along an axis that is cut.
  bool is_same_along(const Shape& operand, const std::vector<Cut>& cuts) const {
    if (operand.size() > cuts.size()) return false;
    const std::size_t missing = cuts.size() - operand.size();
    for (std::size_t d = 0; d < operand.size(); ++d) {
      if (cuts[d + missing].any() && operand[d] != 1) return false;
    }
    return true;
  }

  // The operand whose elements an operator maps one to one, the others being the same along the
  // cuts; nothing where there is none, or a second.
  std::optional<std::size_t> mapped_operand(const Node& node, const std::vector<Cut>& cuts) const {
    std::optional<std::size_t> out;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue || is_same_along(shape_of(node.inputs[i]), cuts)) continue;
      if (out || shape_of(node.inputs[i]) != shape_of(node.outputs[0])) return std::nullopt;
      out = i;
    }
    return out;
  }

  // From a convolution to what the Slice reads; empty where something else is between them.
  std::vector<int> chain_before(const Node& slice, const std::vector<Cut>& cuts) const {
    std::vector<int> out;
    ValueId id = slice.inputs[0];
    while (out.size() <= kMostBetween) {
      const Node* const before = wiring_.only_producer(id);
      if (before == nullptr) break;
      out.push_back(static_cast<int>(before - graph_.nodes.data()));
      if (is_convolution(*before)) return {out.rbegin(), out.rend()};
      const bool maps = is_pointwise(*before) && before->outputs.size() == 1;
      const auto operand = maps ? mapped_operand(*before, cuts) : std::nullopt;
      if (!operand) break;
      id = before->inputs[*operand];
    }
    return {};
  }

  // The nodes of the chain, cropped, the last with the output of the Slice; empty where an operator
  // does not take it.
  std::vector<Node> remade(const std::vector<int>& chain, const Node& slice, const Padding& pads) {
    std::vector<Node> out;
    ValueId before = kNoValue, cropped = kNoValue;
    for (const int i : chain) {
      Node next = out.empty() ? with_pads(node(i), pads) : node(i);
      std::ranges::replace(next.inputs, before, out.empty() ? before : cropped);
      before = next.outputs[0];
      cropped = i == chain.back() ? slice.outputs[0] : add_value_like(before);
      next.outputs[0] = cropped;
      next.params.reset();
      Sink trial;
      if (!resolve_node(graph_, next, trial)) return {};
      out.push_back(std::move(next));
    }
    return out;
  }

  ValueId add_value_like(ValueId id) {
    Value value;
    value.name = graph_.value(id).name;
    return graph_.add_value(std::move(value));
  }

  void fold(int at) {
    const Node slice = node(at);
    if (slice.inputs[0] == kNoValue || shape_of(slice.inputs[0]).size() < 3) return;
    const auto cuts = cuts_of(slice, shape_of(slice.inputs[0]));
    if (!cuts) return;
    const std::vector<int> chain = chain_before(slice, *cuts);
    if (chain.empty()) return;
    auto pads = cropped(node(chain.front()), *cuts);
    if (!pads) return;
    const std::size_t values = graph_.values.size();
    const Value result = graph_.value(slice.outputs[0]);
    std::vector<Node> nodes = remade(chain, slice, std::move(*pads));
    const Value& now = graph_.value(slice.outputs[0]);
    if (nodes.empty() || now.shape != result.shape || now.dtype != result.dtype) {
      graph_.values.resize(values);
      graph_.value(slice.outputs[0]) = result;
      return;
    }
    wiring_.erase(at);
    for (std::size_t k = 0; k < nodes.size(); ++k) wiring_.replace(chain[k], std::move(nodes[k]));
    graph_.fusions.fused(slice, "is padding of the convolution before it");
  }

  Graph& graph_;
  Wiring wiring_;
};

}  // namespace

void fold_slices(Graph& graph) { SliceFolding(graph).run(); }

}  // namespace etch
