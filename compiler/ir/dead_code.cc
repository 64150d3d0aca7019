// One backward walk finds the needed nodes, then the values are packed.
#include "compiler/ir/dead_code.h"

#include <algorithm>
#include <utility>

namespace etch {

namespace {

class Needed {
 public:
  explicit Needed(const Graph& graph) : flags_(graph.values.size()) {
    add_all(graph.inputs);
    add_all(graph.outputs);
  }

  void add_all(const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      if (id != kNoValue) flags_[static_cast<std::size_t>(id)] = true;
    }
  }

  bool has(ValueId id) const { return id != kNoValue && flags_[static_cast<std::size_t>(id)]; }

 private:
  std::vector<bool> flags_;
};

// Everything that branches use and make.
void add_branches(const Node& node, Needed& needed) {
  for (const std::vector<Node>& branch : node.branches) {
    for (const Node& inner : branch) {
      needed.add_all(inner.inputs);
      needed.add_all(inner.outputs);
      add_branches(inner, needed);
    }
  }
}

// Keeps the needed nodes in their order and adds what they use and make to `needed`.
void remove_nodes(Graph& graph, Needed& needed) {
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool is_live = std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) {
      return needed.has(id) && graph.value(id).constant == nullptr;
    });
    if (!is_live) continue;
    needed.add_all(node->inputs);
    needed.add_all(node->outputs);
    add_branches(*node, needed);
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
}

void renumber(std::vector<ValueId>& ids, const std::vector<ValueId>& new_ids) {
  for (ValueId& id : ids) {
    if (id != kNoValue) id = new_ids[static_cast<std::size_t>(id)];
  }
}

void renumber(std::vector<Node>& nodes, const std::vector<ValueId>& new_ids) {
  for (Node& node : nodes) {
    renumber(node.inputs, new_ids);
    renumber(node.outputs, new_ids);
    for (std::vector<Node>& branch : node.branches) renumber(branch, new_ids);
  }
}

void pack_values(Graph& graph, const Needed& needed) {
  std::vector<ValueId> new_ids(graph.values.size(), kNoValue);
  std::vector<Value> kept;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (!needed.has(static_cast<ValueId>(v))) continue;
    new_ids[v] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(kept);
  renumber(graph.inputs, new_ids);
  renumber(graph.outputs, new_ids);
  renumber(graph.nodes, new_ids);
}

}  // namespace

void remove_dead(Graph& graph) {
  Needed needed(graph);
  remove_nodes(graph, needed);
  pack_values(graph, needed);
}

}  // namespace etch
