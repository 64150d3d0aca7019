// See fixed_boxes.h.
#include "compiler/passes/fixed_boxes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/ops/op.h"

namespace etch {

namespace {

constexpr std::size_t kArguments = 5;  // of NonMaxSuppression

bool is_onnx(const Node& node, std::string_view type) {
  return node.domain.empty() && node.op_type == type && node.outputs.size() == 1;
}

// The only reader of each value that has one; -1 for others, and for outputs of the graph.
std::map<ValueId, int> only_readers(const Graph& graph, const std::vector<Node>& nodes) {
  std::map<ValueId, int> out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const ValueId id : nodes[i].inputs) {
      const auto [at, is_new] = out.try_emplace(id, static_cast<int>(i));
      if (!is_new) at->second = -1;
    }
  }
  for (const ValueId id : graph.outputs) out[id] = -1;
  return out;
}

// The number of rows that the file declares, or 0.
std::int64_t declared_rows(const Graph& graph, const Node& node) {
  const std::optional<Shape>& shape = graph.value(node.outputs[0]).shape;
  return shape && shape->size() == 2 ? std::max<std::int64_t>(shape->front(), 0) : 0;
}

void take_filled_form(Node& node) {
  node.domain = kEtch;
  node.op_type = "FilledNonMaxSuppression";
  node.op = find_op(node.domain, node.op_type);
}

}  // namespace

void fix_box_counts(Graph& graph, std::vector<Node>& nodes) {
  const auto has_boxes = [](const Node& node) { return is_onnx(node, "NonMaxSuppression"); };
  if (std::ranges::none_of(nodes, has_boxes)) return;
  graph.opsets.try_emplace(std::string(kEtch), 1);
  const std::map<ValueId, int> readers = only_readers(graph, nodes);
  const auto reader = [&](const Node& node) -> Node* {
    const auto found = readers.find(node.outputs[0]);
    const bool has_one = found != readers.end() && found->second >= 0;
    return has_one ? &nodes[static_cast<std::size_t>(found->second)] : nullptr;
  };
  std::vector<bool> gone(nodes.size());
  for (Node& node : nodes) {
    if (!has_boxes(node) || node.inputs.size() > kArguments) continue;
    if (const std::int64_t rows = declared_rows(graph, node); rows > 0) {
      take_filled_form(node);
      node.attributes["rows"] = rows;
      continue;
    }
    Node* concat = reader(node);
    if (concat == nullptr || !is_onnx(*concat, "Concat") || concat->inputs.size() != 2) continue;
    const auto axis = concat->attributes.find("axis");
    if (axis == concat->attributes.end() || axis->second != Attribute(std::int64_t{0})) continue;
    Node* slice = reader(*concat);
    if (slice == nullptr || !is_onnx(*slice, "Slice") || slice->inputs.size() < 3) continue;
    if (concat->inputs[0] != node.outputs[0] || slice->inputs[0] != concat->outputs[0]) continue;
    std::vector<ValueId> inputs = node.inputs;
    inputs.resize(kArguments, kNoValue);
    inputs.push_back(concat->inputs[1]);
    inputs.insert(inputs.end(), slice->inputs.begin() + 1, slice->inputs.end());
    Node filled = node;  // in the place of Slice: its arguments come before that
    take_filled_form(filled);
    filled.inputs = std::move(inputs);
    filled.outputs = slice->outputs;
    gone[static_cast<std::size_t>(&node - nodes.data())] = true;
    gone[static_cast<std::size_t>(concat - nodes.data())] = true;
    *slice = std::move(filled);
  }
  std::size_t at = 0;
  std::erase_if(nodes, [&](const Node&) { return gone[at++]; });
}

}  // namespace etch
