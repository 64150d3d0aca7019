// Folding of QDQ groups; see fold_qdq.h. Each rewrite is one function over the whole graph that
// says whether it changed something.
#include "compiler/passes/fold_qdq.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/cast/op.h"
#include "compiler/ops/dequantize_linear/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pad/op.h"
#include "compiler/ops/reference_math.h"
#include "compiler/ops/scalar_quantization.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/fuse_qdq.h"
#include "compiler/passes/integer_products.h"
#include "compiler/passes/pool_means.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/qdq_faults.h"
#include "compiler/passes/rescale_joins.h"
#include "compiler/passes/resolve.h"
#include "compiler/passes/retype_pairs.h"
#include "compiler/passes/round_bias.h"

namespace etch {

namespace {
enum class Changed { kNo, kYes };

Changed operator|(Changed a, Changed b) {
  return a == Changed::kYes || b == Changed::kYes ? Changed::kYes : Changed::kNo;
}

int node_count(const Graph& graph) { return static_cast<int>(graph.nodes.size()); }
Node& node_at(Graph& graph, int i) { return graph.nodes[static_cast<std::size_t>(i)]; }

// Exporters write a Slice or a Pad where sizes differ in general, and here they are equal.
bool keeps_every_element(const Graph& graph, const Node& node) {
  const Shape& from = *graph.value(node.inputs[0]).shape;
  if (node.op_type == "Slice") {
    const auto& slice = params_of<StridedCopy>(node);
    return slice.shape == from && slice.view.offset == 0 &&
           slice.view.strides == dense_strides(from);
  }
  return std::ranges::all_of(params_of<Pad>(node).axes,
                             [](const PadAxis& axis) {
                               return axis.first == 0 && axis.begin == 0 && axis.end == 0;
                             }) &&
         params_of<Pad>(node).shape == from;
}

bool is_copy(const Graph& graph, const Node& node) {
  if (node.domain != kOnnx) return false;
  if (node.op_type == "Identity") return true;
  if (node.op_type == "Slice" || node.op_type == "Pad") return keeps_every_element(graph, node);
  return node.op_type == "Cast" && params_of<Cast>(node).from == params_of<Cast>(node).to;
}

// A Cast of what DequantizeLinear makes of blocks, float16 in the file: pack_weights looks for it.
bool converts_weights(const Wiring& wiring, const Node& node) {
  const Node* const weights = node.op_type == "Cast" ? wiring.producer(node.inputs[0]) : nullptr;
  return weights != nullptr && is_dequantize(*weights) &&
         params_of<DequantizeLinearParams>(*weights).axis.granularity ==
             QuantizationGranularity::kBlock;
}

// Erases node i, whose one output equals the earlier value `from`. The name of a graph output
// stays, so there the producer of `from` takes it over; false when that cannot be.
bool bypass(Graph& graph, Wiring& wiring, int i, ValueId from) {
  const ValueId to = node_at(graph, i).outputs[0];
  if (!wiring.is_graph_output(to)) {
    wiring.redirect(to, from);
    wiring.erase(i);
    return true;
  }
  const Node* producer = wiring.producer(from);
  if (producer == nullptr || wiring.is_graph_output(from)) return false;
  Node renamed = *producer;
  std::ranges::replace(renamed.outputs, from, to);
  wiring.erase(i);
  wiring.redirect(from, to);
  wiring.replace(static_cast<int>(producer - graph.nodes.data()), std::move(renamed));
  return true;
}

Changed remove_copies(Graph& graph) {
  Wiring wiring(graph);
  Changed changed = Changed::kNo;
  for (int i = 0; i < node_count(graph); ++i) {
    if (!is_copy(graph, node_at(graph, i)) || converts_weights(wiring, node_at(graph, i))) continue;
    const Node copy = node_at(graph, i);
    if (!bypass(graph, wiring, i, copy.inputs[0])) continue;
    graph.fusions.fused(copy, "removed: it changes nothing");
    changed = Changed::kYes;
  }
  wiring.finish();
  return changed;
}

// The element that a constant Pad of DQ(x) adds, as an element of x; nothing when no integer stands
// for it exactly.
std::optional<Tensor> padding_before(const Pad& pad, const QuantizedOperand& x) {
  if (!x.is_narrow() || pad.value.dtype() != DType::kF32) return std::nullopt;
  const ScalarQuantization by{x.quantization.scale_at(0), x.quantization.zero_point_at(0)};
  const float value = pad.value.real(0);
  const std::int32_t q = quantized(value, by, x.dtype);
  if (std::bit_cast<std::uint32_t>(dequantized(q, by)) != std::bit_cast<std::uint32_t>(value))
    return std::nullopt;
  return narrowed(x.dtype, {}, {q});
}

// Where Transpose takes the axis of the scales of its input; nothing: one scale for all. Other
// nodes that keep it, Reshape for one, ONNX Runtime computes in float.
std::optional<std::int64_t> axis_after(const Graph& graph, const Node& node,
                                       const QuantizedOperand& x) {
  if (x.axis.granularity != QuantizationGranularity::kAxis || node.op_type != "Transpose")
    return std::nullopt;
  const auto perm = node.attributes.find("perm");
  if (perm == node.attributes.end())
    return static_cast<std::int64_t>(graph.value(x.value).shape->size()) - 1 - x.axis.axis;
  const auto& axes = std::get<std::vector<std::int64_t>>(perm->second);
  return std::ranges::find(axes, x.axis.axis) - axes.begin();
}

// Operators that commute with DequantizeLinear: op(DQ(x)) is DQ(op(x)) for scales > 0. MaxPool
// takes 8 bits since opset 12, 16 bits as that of org.etch. Scales along an axis move with
// Transpose.
bool commutes_with_dequantize(const Graph& graph, const Node& node, const QuantizedOperand& x) {
  if (node.domain != kOnnx) return false;
  if (!x.per_tensor()) return axis_after(graph, node, x).has_value();
  if (node.op_type == "MaxPool") return x.is_word() || (graph.opset("") >= 12 && is_8bit(x.dtype));
  if (node.op_type == "Pad") {
    const auto& pad = params_of<Pad>(node);
    return pad.mode != Pad::Mode::kConstant || padding_before(pad, x).has_value();
  }
  return moves_data(node) && node.op_type != "Identity";
}

// Whether `value` is the product of two quantized values, perhaps limited, and nothing else reads
// it: one of integers where it is quantized at once.
bool is_quantized_product(const Graph& graph, const Wiring& wiring, ValueId value) {
  const Node* node = wiring.producer(value);
  const auto read_once = [&](ValueId id) {
    return wiring.consumers(id).size() == 1 && !wiring.is_graph_output(id);
  };
  while (node != nullptr && is_one_of(node->op_type, {"Relu", "Clip"}) && read_once(value)) {
    value = node->inputs[0];
    node = wiring.producer(value);
  }
  if (node == nullptr || node->domain != kOnnx || !read_once(value) ||
      !is_one_of(node->op_type, {"Conv", "ConvTranspose", "MatMul", "Gemm"}))
    return false;
  const auto quantized = [&](ValueId input) {
    const Node* before = wiring.producer(input);
    return before != nullptr && dequantized_by(graph, *before).has_value();
  };
  return quantized(node->inputs[0]) && quantized(node->inputs[1]);
}

// Those where QuantizeLinear may as well come first: it has no more elements to work on then. After
// Slice it has fewer, but an integer product before it is worth more.
bool commutes_with_quantize(const Graph& graph, const Wiring& wiring, const Node& node) {
  if (node.domain != kOnnx) return false;
  if (node.op_type == "Slice") return is_quantized_product(graph, wiring, node.inputs[0]);
  return is_one_of(node.op_type,
                   {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand"});
}

// `like`, a Q or DQ node, between two other values.
Node between(const Node& like, ValueId from, ValueId to) {
  Node node = like;
  node.inputs[0] = from;
  node.outputs = {to};
  return node;
}

void must_resolve(Graph& graph, Node& node) {
  Sink sink;
  ETCH_CHECK(resolve_node(graph, node, sink));
}

// Pad of the integers before DequantizeLinear, in the one form that every operator set takes.
Node pad_before(Graph& graph, const Node& node, const QuantizedOperand& x) {
  const auto& pad = params_of<Pad>(node);
  const auto rank = static_cast<std::int64_t>(pad.axes.size());
  std::vector<std::int64_t> pads;
  for (std::size_t d = 0; d < pad.axes.size(); ++d)
    pads.push_back(pad.axes[d].begin - pad.axes[d].first);
  const Shape& from = *graph.value(node.inputs[0]).shape;
  for (std::size_t d = 0; d < pad.axes.size(); ++d)
    pads.push_back(pad.shape[d] - from[d] - pads[d]);
  Node out = node;
  out.domain = kMicrosoft;
  out.op = nullptr;
  std::erase_if(out.attributes, [](const auto& attribute) { return attribute.first != "mode"; });
  out.inputs = {node.inputs[0], graph.add_constant(Tensor::of<std::int64_t>({2 * rank}, pads))};
  if (pad.mode == Pad::Mode::kConstant)
    out.inputs.push_back(graph.add_constant(*padding_before(pad, x)));
  return out;
}

// op(DQ(x)) as nodes op, DQ per output, with its scales along `axis`; appended to `nodes`.
void append_swapped(Graph& graph, const Node& op, const Node& dequantize,
                    std::optional<std::int64_t> axis, std::vector<Node>& nodes) {
  Node moved = op;
  moved.inputs[0] = dequantize.inputs[0];
  const DType type = *graph.value(moved.inputs[0]).dtype;
  if (op.op_type == "MaxPool" && !is_8bit(type)) {
    moved.domain = kEtch;
    moved.op = nullptr;
    graph.opsets.emplace(kEtch, 1);
  }
  for (ValueId& output : moved.outputs) {
    if (output != kNoValue) output = graph.add_value(Value{graph.value(output).name, {}, {}, {}});
  }
  must_resolve(graph, moved);
  nodes.push_back(moved);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (op.outputs[i] == kNoValue) continue;
    nodes.push_back(between(dequantize, moved.outputs[i], op.outputs[i]));
    if (axis) nodes.back().attributes["axis"] = *axis;
    must_resolve(graph, nodes.back());
  }
}

Changed dequantize_later(Graph& graph) {
  std::vector<Node> nodes;
  std::vector<int> producers(graph.values.size(), -1);
  const auto producer = [&](ValueId id) {
    const int at = producers[static_cast<std::size_t>(id)];
    return at < 0 ? nullptr : &nodes[static_cast<std::size_t>(at)];
  };
  Changed changed = Changed::kNo;
  for (const Node& node : graph.nodes) {
    const std::size_t first = nodes.size();
    const Node* before =
        node.inputs.empty() || node.inputs[0] == kNoValue ? nullptr : producer(node.inputs[0]);
    const auto operand = before == nullptr ? std::nullopt : dequantized_by(graph, *before);
    if (operand && commutes_with_dequantize(graph, node, *operand)) {
      const Node moved = node.op_type == "Pad" ? pad_before(graph, node, *operand) : node;
      append_swapped(graph, moved, Node(*before), axis_after(graph, node, *operand), nodes);
      graph.fusions.fused(node, "works on integers: DequantizeLinear comes after it");
      changed = Changed::kYes;
    } else {
      nodes.push_back(node);
    }
    producers.resize(graph.values.size(), -1);
    for (std::size_t i = first; i < nodes.size(); ++i) {
      for (const ValueId id : nodes[i].outputs) {
        if (id != kNoValue) producers[static_cast<std::size_t>(id)] = static_cast<int>(i);
      }
    }
  }
  graph.nodes = std::move(nodes);
  return changed;
}

// Q(op(x)) becomes op(Q(x)), from the last node to the first so that a Q passes whole chains. The
// two nodes trade places.
Changed quantize_earlier(Graph& graph) {
  Wiring wiring(graph);
  Changed changed = Changed::kNo;
  for (int i = node_count(graph); i-- > 0;) {
    const auto operand = quantized_by(graph, node_at(graph, i));
    if (!operand || !operand->is_narrow() || !operand->per_tensor()) continue;
    const Node quantize = node_at(graph, i);
    const Node* op = wiring.producer(quantize.inputs[0]);
    if (op == nullptr || !commutes_with_quantize(graph, wiring, *op)) continue;
    if (wiring.consumers(op->outputs[0]).size() != 1 || wiring.is_graph_output(op->outputs[0]))
      continue;
    const int op_index = static_cast<int>(op - graph.nodes.data());
    graph.fusions.fused(*op, "works on integers: QuantizeLinear comes before it");
    Node moved = *op;
    const ValueId early = graph.add_value(Value{graph.value(moved.inputs[0]).name, {}, {}, {}});
    Node first = between(quantize, moved.inputs[0], early);
    must_resolve(graph, first);
    moved.inputs[0] = early;
    moved.outputs[0] = quantize.outputs[0];
    must_resolve(graph, moved);
    wiring.replace(op_index, std::move(first));
    wiring.replace(i, std::move(moved));
    changed = Changed::kYes;
  }
  wiring.finish();
  return changed;
}

// True when every use of Relu's or Clip's output is a Q that implies it.
bool all_uses_imply(const Graph& graph, const Wiring& wiring, const Node& node) {
  const ValueId output = node.outputs[0];
  if (wiring.is_graph_output(output)) return false;
  return std::ranges::all_of(wiring.consumers(output), [&](int user) {
    const auto operand = quantized_by(graph, graph.nodes[static_cast<std::size_t>(user)]);
    return operand && is_implied_before(node, *operand);
  });
}

bool follows_dequantize_that_implies(const Graph& graph, const Wiring& wiring, const Node& node) {
  const Node* before = wiring.producer(node.inputs[0]);
  const auto operand = before == nullptr ? std::nullopt : dequantized_by(graph, *before);
  return operand && is_implied_after(node, *operand) && !wiring.is_graph_output(node.outputs[0]);
}

Changed remove_implied_clips(Graph& graph) {
  Wiring wiring(graph);
  Changed changed = Changed::kNo;
  for (int i = node_count(graph); i-- > 0;) {
    const Node& node = node_at(graph, i);
    if (node.op_type != "Relu" && node.op_type != "Clip") continue;
    if (!all_uses_imply(graph, wiring, node) &&
        !follows_dequantize_that_implies(graph, wiring, node)) {
      continue;
    }
    graph.fusions.fused(node, "removed: the quantized range implies it");
    wiring.redirect(node.outputs[0], node.inputs[0]);
    wiring.erase(i);
    changed = Changed::kYes;
  }
  wiring.finish();
  return changed;
}

Changed cancel_pairs(Graph& graph) {
  Wiring wiring(graph);
  Changed changed = Changed::kNo;
  for (int i = 0; i < node_count(graph); ++i) {
    const auto to = quantized_by(graph, node_at(graph, i));
    if (!to) continue;
    const Node* before = wiring.producer(node_at(graph, i).inputs[0]);
    const auto from = before == nullptr ? std::nullopt : dequantized_by(graph, *before);
    if (!from || !same_quantization(*from, *to)) continue;
    const Node quantize = node_at(graph, i);
    if (!bypass(graph, wiring, i, from->value)) continue;
    graph.fusions.fused(quantize, "removed: it undoes the DequantizeLinear before it");
    changed = Changed::kYes;
  }
  wiring.finish();
  return changed;
}

Changed fuse_groups(Graph& graph, Sink& sink, QdqGroups groups) {
  return fuse_qdq_groups(graph, sink, groups) > 0 ? Changed::kYes : Changed::kNo;
}
}  // namespace

void fold_qdq(Graph& graph, Sink& sink, QdqGroups groups) {
  // First: the other rewrites put moves between Q and DQ.
  if (groups == QdqGroups::kAll) {
    pool_means(graph);
    retype_pairs(graph);
  }
  Changed changed = Changed::kYes;
  while (changed == Changed::kYes) {
    changed = remove_copies(graph);
    changed = changed | dequantize_later(graph);
    changed = changed | quantize_earlier(graph);
    changed = changed | remove_implied_clips(graph);
    changed = changed | cancel_pairs(graph);
    rescale_joins(graph);
    changed = changed | fuse_groups(graph, sink, groups);
    fold_constants(graph, FoldDequantize::kNo);
  }
  if (groups == QdqGroups::kAll) {
    integer_products(graph);
  } else {
    round_biases(graph);
    offer_integer_products(graph);
  }
  verify(graph, Resolved::kYes);
}

void keep_qdq(Graph& graph) {
  const Wiring wiring(graph);
  for (const Node& node : graph.nodes) {
    const bool converts = is_quantize(node) || is_dequantize(node);
    if (!converts && is_beside_quantization(graph, wiring, node))
      graph.fusions.missed(node, "--qdq float keeps it in float");
  }
}

}  // namespace etch
