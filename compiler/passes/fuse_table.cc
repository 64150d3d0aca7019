// Finds functions of single 8-bit tensors by one forward walk over operators that declare to be
// pointwise, then computes each on all 256 values; see fuse_table.h.
#include "compiler/passes/fuse_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/dead_code.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/ops/table/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {
constexpr std::size_t kBytes = 256;  // values of an 8-bit element

// A shape of 256 elements that is 1 just where `shape` is 1, as pointwise operators may depend on
// that.
Shape table_shape(const Shape& shape) {
  const auto is_wide = [](std::int64_t size) { return size != 1; };
  const auto wide = std::ranges::count_if(shape, is_wide);
  ETCH_CHECK(0 < wide && wide <= 8);  // no tensor has more than eight axes
  Shape out;
  for (const std::int64_t size : shape) out.push_back(is_wide(size) ? 2 : 1);
  *std::find_if(out.rbegin(), out.rend(), is_wide) = std::int64_t{kBytes} >> (wide - 1);
  return out;
}

using Bytes = std::array<std::byte, kBytes>;

Bytes all_bytes() {
  Bytes out;
  for (std::size_t i = 0; i < kBytes; ++i) out[i] = static_cast<std::byte>(i);
  return out;
}

// The graph's one output for `bytes` as its one input.
Tensor result_for(const Graph& function, const Bytes& bytes) {
  const Value& x = function.value(function.inputs[0]);
  Tensor in(*x.dtype, *x.shape);
  std::ranges::copy(bytes, in.mutable_bytes().begin());
  return evaluate(function, {in}).at(0);
}

// A trial of what the operators declare: bytes in any order, some more than once, some missing,
// give what the table says. A difference is a wrong declaration.
void confirm_table(const Graph& function, const Tensor& table) {
  std::mt19937 dice(1);
  for (int trial = 0; trial < 3; ++trial) {
    Bytes bytes;
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice() & 0xff);
    const Tensor result = result_for(function, bytes);
    for (std::size_t i = 0; i < kBytes; ++i)
      ETCH_CHECK(result.bytes()[i] == table.bytes()[static_cast<std::size_t>(bytes[i])]);
  }
}

class TableFusion {
 public:
  explicit TableFusion(Graph& graph)
      : graph_(graph), roots_(graph.values.size(), kNoValue), producers_(producers_of(graph)) {}

  void run() {
    const std::size_t count = graph_.nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<ValueId> root = root_of(graph_.nodes[i]);
      if (root) roots_[as_index(graph_.nodes[i].outputs[0])] = *root;
    }
    for (std::size_t i = 0; i < count; ++i) fuse(graph_.nodes[i]);
  }

 private:
  // The 8-bit tensor that the node's output is a function of: the one that all its inputs come
  // from, at the same place, beside constants that are the same for all places.
  std::optional<ValueId> root_of(const Node& node) const {
    if (!is_pointwise(node) || node.outputs.size() != 1) return {};
    if (graph_.value(node.outputs[0]).constant != nullptr) return {};
    const Shape& shape = *graph_.value(node.outputs[0]).shape;
    ValueId root = kNoValue;
    for (const ValueId input : node.inputs) {
      if (input == kNoValue) continue;
      const Value& value = graph_.value(input);
      if (value.constant != nullptr) {
        if (value.constant->size() != 1) return {};
        continue;
      }
      const ValueId from = roots_[as_index(input)] != kNoValue ? roots_[as_index(input)] : input;
      const bool fits = is_8bit(*graph_.value(from).dtype) && *value.shape == shape;
      if (!fits || (root != kNoValue && root != from)) return {};
      root = from;
    }
    if (root == kNoValue || element_count(shape) <= 1) return {};
    return root;
  }

  // The nodes between `root` and `target`, in order.
  std::vector<const Node*> nodes_between(ValueId root, ValueId target) const {
    std::vector<ValueId> wanted{target};
    std::set<int> found;
    while (!wanted.empty()) {
      const ValueId id = wanted.back();
      wanted.pop_back();
      if (id == kNoValue || id == root || graph_.value(id).constant != nullptr) continue;
      const int producer = producers_[as_index(id)];
      if (!found.insert(producer).second) continue;
      const auto& inputs = graph_.nodes[static_cast<std::size_t>(producer)].inputs;
      wanted.insert(wanted.end(), inputs.begin(), inputs.end());
    }
    std::vector<const Node*> nodes;
    nodes.reserve(found.size());
    for (const int i : found) nodes.push_back(&graph_.nodes[static_cast<std::size_t>(i)]);
    return nodes;
  }

  // The function as a graph of its own over a tensor of 256 elements; nothing if an operator
  // refuses.
  std::optional<Graph> function_graph(ValueId root, ValueId target,
                                      const std::vector<const Node*>& nodes) const {
    Graph out;
    out.opsets = graph_.opsets;
    std::vector<ValueId> ids(graph_.values.size(), kNoValue);
    const Shape shape = table_shape(*graph_.value(root).shape);
    ids[as_index(root)] = out.add_value({"x", graph_.value(root).dtype, shape, nullptr});
    out.inputs = {ids[as_index(root)]};
    for (const Node* const from : nodes) {
      Node node = *from;
      for (ValueId& id : node.inputs) {
        if (id == kNoValue) continue;
        ValueId& known = ids[as_index(id)];
        const auto& constant = graph_.value(id).constant;
        if (constant != nullptr && known == kNoValue) known = out.add_constant(*constant);
        id = known;
      }
      ValueId& output = ids[as_index(from->outputs[0])];
      node.outputs = {output = out.add_value({})};
      Sink refusals;
      if (!resolve_node(out, node, refusals) || node.outputs[0] == kNoValue) return std::nullopt;
      if (out.value(node.outputs[0]).shape != shape) return std::nullopt;
      out.nodes.push_back(std::move(node));
    }
    out.outputs = {ids[as_index(target)]};
    return out;
  }

  // A single look-up is no gain over one of these.
  static bool is_cheap(const std::vector<const Node*>& nodes) {
    static constexpr std::string_view kCheap[] = {"Table", "Clip", "Cast", "Relu", "Max", "Min"};
    return nodes.size() == 1 && std::ranges::find(kCheap, nodes[0]->op_type) != std::end(kCheap);
  }

  static std::string names_of(const std::vector<const Node*>& nodes) {
    constexpr std::size_t kMost = 200;  // where chains meet again and again, names would explode
    std::string out;
    for (const Node* node : nodes) {
      if (out.size() > kMost) return out.substr(0, kMost) + " ...";
      const bool converts =
          node->op_type == "QuantizeLinear" || node->op_type == "DequantizeLinear";
      if (converts || node->op_type == "Cast") continue;
      const bool table = node->domain == kEtch && node->op_type == "Table";
      out += cat(out.empty() ? "" : ", ", table ? params_of<Table>(*node).of : node->op_type);
    }
    return out.empty() ? "requantization" : out;
  }

  void fuse(Node& node) {
    if (node.outputs.size() != 1) return;
    const ValueId target = node.outputs[0];
    const ValueId root = roots_[as_index(target)];
    if (root == kNoValue || !is_8bit(*graph_.value(target).dtype)) return;
    const std::vector<const Node*> nodes = nodes_between(root, target);
    if (is_cheap(nodes)) return;
    const auto function = function_graph(root, target, nodes);
    if (!function) return;
    const Tensor table = result_for(*function, all_bytes()).reshaped({kBytes});
    confirm_table(*function, table);
    Node fused;
    fused.index = node.index;
    fused.name = node.name;
    fused.domain = kEtch;
    fused.op_type = "Table";
    fused.attributes["of"] = names_of(nodes);
    graph_.opsets.emplace(kEtch, 1);
    fused.inputs = {root, graph_.add_constant(table)};
    fused.outputs = {target};
    Sink none;
    ETCH_CHECK(resolve_node(graph_, fused, none));
    for (const Node* each : nodes) {
      if (is_quantize(*each) || is_dequantize(*each)) continue;
      graph_.fusions.fused(*each, "became a look-up in a table");
    }
    node = std::move(fused);
  }

  Graph& graph_;
  std::vector<ValueId> roots_;  // per value: the tensor that it is a function of, or none
  std::vector<int> producers_;
};

struct TableLimits {
  std::int64_t low = 0, high = 0;
};

// min(max(x, low), high) as a table.
std::optional<TableLimits> limits_of(const Tensor& table) {
  const std::int64_t least = min_of(table.dtype()), most = max_of(table.dtype());
  const auto at = [&](std::int64_t x) { return table.integer(x & 0xff); };
  const TableLimits limits{at(least), at(most)};
  if (limits.low > limits.high) return std::nullopt;
  for (std::int64_t x = least; x <= most; ++x) {
    if (at(x) != std::min(std::max(x, limits.low), limits.high)) return std::nullopt;
  }
  return limits;
}

bool is_table(const Node& node) { return node.domain == kEtch && node.op_type == "Table"; }

bool adds_residual(const Node& node) { return node.op_type == "QLinearConvAdd"; }

// Whether a QLinearMatMul runs on the convolution's kernels: a is quantized per tensor, b one
// matrix.
bool is_plain_product(const Graph& graph, const Node& node) {
  const auto count = [&](std::size_t i) {
    return element_count(*graph.value(node.inputs[i]).shape);
  };
  return count(1) == 1 && count(2) == 1 && graph.value(node.inputs[3]).shape->size() == 2 &&
         count(3) > 0;
}

// Whether `node` is a convolution, product or sum whose kernel can limit its results: everything
// but its operands is known.
bool takes_limits(const Graph& graph, const Node& node) {
  if (adds_residual(node)) return !node.attributes.contains("sum_low");
  if (node.op_type == "QLinearAdd" || node.op_type == "QLinearMul")
    return node.domain == kMicrosoft && !params_of<QLinearBinary>(node).at_run_time;
  const bool known_type =
      node.op_type == "QLinearConv" || node.op_type == "QGemm" || node.op_type == "QLinearMatMul";
  if (!known_type || (node.domain != kOnnx && node.domain != kMicrosoft)) return false;
  if (graph.value(node.inputs[0]).constant != nullptr) return false;
  if (node.op_type == "QLinearMatMul" && !is_plain_product(graph, node)) return false;
  return std::ranges::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId id) {
    return id == kNoValue || graph.value(id).constant != nullptr;
  });
}

// Makes `limits`, which node i applies, part of the convolution or product before it, if there is
// one that nothing else uses.
bool limit_convolution(Graph& graph, Wiring& wiring, int i, const TableLimits& limits) {
  const Node& table = graph.nodes[static_cast<std::size_t>(i)];
  const Node* const before = wiring.producer(table.inputs[0]);
  if (before == nullptr || !takes_limits(graph, *before)) return false;
  if (wiring.consumers(table.inputs[0]).size() != 1 || wiring.is_graph_output(table.inputs[0]))
    return false;
  Node limited = *before;
  limited.domain = kEtch;
  limited.attributes[adds_residual(limited) ? "sum_low" : "clamp_low"] = limits.low;
  limited.attributes[adds_residual(limited) ? "sum_high" : "clamp_high"] = limits.high;
  limited.outputs = table.outputs;
  Sink none;
  ETCH_CHECK(resolve_node(graph, limited, none));
  graph.fusions.fused(table, cat("became limits of ", limited.op_type));
  wiring.erase(i);
  wiring.replace(static_cast<int>(before - graph.nodes.data()), std::move(limited));
  return true;
}

// Leaves tables out that the convolution before can do, or that change nothing.
void simplify(Graph& graph) {
  Wiring wiring(graph);
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    const Node& node = graph.nodes[static_cast<std::size_t>(i)];
    if (!is_table(node)) continue;
    const Tensor& table = *graph.value(node.inputs[1]).constant;
    if (graph.value(node.inputs[0]).dtype != table.dtype()) continue;
    const auto limits = limits_of(table);
    if (!limits) continue;
    const bool changes =
        limits->low != min_of(table.dtype()) || limits->high != max_of(table.dtype());
    if (changes) {
      limit_convolution(graph, wiring, i, *limits);
    } else if (!wiring.is_graph_output(node.outputs[0])) {
      wiring.redirect(node.outputs[0], node.inputs[0]);
      wiring.erase(i);
    }
  }
  wiring.finish();
}
}  // namespace

void fuse_table(Graph& graph, Sink&) {
  TableFusion(graph).run();
  remove_dead(graph);  // what only led to tables is no consumer any more
  simplify(graph);
}

}  // namespace etch
