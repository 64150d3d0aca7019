// See branches.h. What a branch reads of what is around it is renamed to a guarded value, so that
// all that is computed from it is in the region.
#include "compiler/passes/branches.h"

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/passes/rename.h"

namespace etch {

namespace {
Node edge(const Node& origin, const char* type) {
  Node node;
  node.index = origin.index;
  node.name = origin.name;
  node.domain = kEtch;
  node.op_type = type;
  node.op = find_op(kEtch, type);
  return node;
}

class Branches {
 public:
  Branches(Graph& graph, Node node) : graph_(graph), node_(std::move(node)) {
    for (const ValueId id : node_.outputs) {
      if (id != kNoValue) results_.push_back(id);
    }
  }

  std::vector<Node> run(int before) {
    std::vector<ValueId> first;
    for (const ValueId id : results_) first.push_back(copy_of(id));
    add(before, {}, first);
    add(1 - before, first, results_);
    return std::move(out_);
  }

 private:
  // A new value of that name.
  ValueId copy_of(ValueId id) { return graph_.add_value({graph_.value(id).name, {}, {}, nullptr}); }

  void add(int branch, const std::vector<ValueId>& previous, const std::vector<ValueId>& outputs) {
    Node begin = edge(node_, "If");
    Node end = edge(node_, "IfEnd");
    const std::int64_t when = branch == 0 ? 1 : 0;
    Names names;
    begin.inputs = {kNoValue, node_.inputs[0]};
    begin.outputs = {graph_.add_value({"", {}, {}, nullptr})};
    end.inputs = {begin.outputs[0], kNoValue};
    for (std::size_t i = 1; i < node_.inputs.size(); ++i) {
      const ValueId id = node_.inputs[i];
      if (graph_.value(id).constant != nullptr) continue;
      begin.inputs.push_back(id);
      begin.outputs.push_back(names[id] = copy_of(id));
    }
    begin.attributes = {{"guarded", static_cast<std::int64_t>(names.size())}, {"when", when}};
    end.inputs.insert(end.inputs.end(), previous.begin(), previous.end());
    for (const ValueId id : results_) end.inputs.push_back(names[id] = copy_of(id));
    end.outputs = outputs;
    end.attributes = {{"carried", static_cast<std::int64_t>(results_.size())},
                      {"previous", static_cast<std::int64_t>(previous.size())},
                      {"when", when}};
    std::vector<Node>& nodes = node_.branches[static_cast<std::size_t>(branch)];
    rename(nodes, names, names);
    out_.push_back(std::move(begin));
    std::move(nodes.begin(), nodes.end(), std::back_inserter(out_));
    out_.push_back(std::move(end));
  }

  Graph& graph_;
  Node node_;
  std::vector<ValueId> results_;
  std::vector<Node> out_;
};
}  // namespace

std::vector<Node> both_branches(Graph& graph, Node node, int first) {
  return Branches(graph, std::move(node)).run(first);
}

}  // namespace etch
