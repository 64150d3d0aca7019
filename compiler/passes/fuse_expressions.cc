// Grows trees from their last operators towards the inputs; see fuse_expressions.h.
#include "compiler/passes/fuse_expressions.h"

#include <algorithm>
#include <any>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ir/dead_code.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/expression/op.h"
#include "compiler/ops/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {
// More would not fit the registers, or the step's function.
constexpr std::size_t kMostParts = 24;
constexpr std::size_t kMostInputs = 12;

class ExpressionFusion {
 public:
  ExpressionFusion(Graph& graph, bool ranges)
      : graph_(graph),
        ranges_(ranges),
        producers_(producers_of(graph)),
        consumers_(consumers_of(graph)),
        taken_(graph.nodes.size(), false),
        erased_(graph.nodes.size(), false) {}

  void run() {
    for (int i = static_cast<int>(graph_.nodes.size()) - 1; i >= 0; --i) {
      if (taken_[as_index(i)] || !can_be_part(graph_, node(i), true)) continue;
      const std::set<int> group = grown(i);
      for (const int member : group) taken_[as_index(member)] = true;
      if (group.size() > 1 || gains_alone(node(i)) || range_reader(i) >= 0) replace(i, group);
    }
    std::vector<Node> kept;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!erased_[i]) kept.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(kept);
    remove_dead(graph_);
  }

 private:
  const Node& node(int i) const { return graph_.nodes[as_index(i)]; }
  std::int64_t elements(ValueId id) const { return element_count(*graph_.value(id).shape); }

  // Operators whose own kernels take one element at a time.
  static bool gains_alone(const Node& node) {
    return node.op_type == "Cast" || node.op_type == "HardSigmoid" || node.op_type == "HardSwish";
  }

  // The DynamicQuantizeLinear that reads the result of node `i`, if the range can be found there.
  int range_reader(int i) const {
    const ValueId y = node(i).outputs[0];
    if (!ranges_ || *graph_.value(y).dtype != DType::kF32) return -1;
    for (const int reader : consumers_[as_index(y)]) {
      const Node& dynamic = node(reader);
      if (dynamic.op_type == "DynamicQuantizeLinear" && dynamic.outputs[1] != kNoValue &&
          dynamic.outputs[2] != kNoValue)
        return reader;
    }
    return -1;
  }

  // Node `reader`, unless negative, becomes a QuantizeLinear with parameters from `fused`.
  void take_range(Node& fused, int reader) {
    if (reader < 0) return;
    Node& dynamic = graph_.nodes[as_index(reader)];
    Node quantize;
    quantize.index = dynamic.index;
    quantize.name = dynamic.name;
    quantize.op_type = "QuantizeLinear";
    quantize.inputs = {fused.outputs[0], dynamic.outputs[1], dynamic.outputs[2]};
    quantize.outputs = {dynamic.outputs[0]};
    fused.outputs.push_back(dynamic.outputs[1]);
    fused.outputs.push_back(dynamic.outputs[2]);
    if (quantize.outputs[0] == kNoValue) {
      erased_[as_index(reader)] = true;
      return;
    }
    Sink none;
    ETCH_CHECK(resolve_node(graph_, quantize, none));
    dynamic = std::move(quantize);
  }

  std::size_t inputs_of(const std::set<int>& group) const {
    std::set<ValueId> inputs;
    for (const int member : group) {
      for (const ValueId id : node(member).inputs) {
        if (id != kNoValue && !group.contains(producers_[as_index(id)])) inputs.insert(id);
      }
    }
    return inputs.size();
  }

  // Whether the producer of input `slot` of `reader` may join its group, which ends with `root`.
  bool joins(const std::set<int>& group, int root, const Node& reader, std::size_t slot) const {
    const ValueId id = reader.inputs[slot];
    const int producer = id == kNoValue ? -1 : producers_[as_index(id)];
    if (producer < 0 || group.contains(producer) || taken_[as_index(producer)]) return false;
    const Node& from = node(producer);
    if (!can_be_part(graph_, from, false)) return false;
    if (std::ranges::count(graph_.outputs, id) > 0) return false;
    const std::vector<int>& readers = consumers_[as_index(id)];
    if (!std::ranges::all_of(readers, [&](int i) { return group.contains(i); })) return false;
    const bool whole = elements(id) == elements(node(root).outputs[0]);
    const bool scalar = elements(id) == 1 && from.op_type != "Cast";
    const bool quantizes = is_quantize(reader) || is_dequantize(reader);
    return scalar || (whole && (slot == 0 || !quantizes));
  }

  std::set<int> grown(int root) const {
    std::set<int> group{root};
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<int> members(group.rbegin(), group.rend());
      for (const int member : members) {
        for (std::size_t slot = 0; slot < node(member).inputs.size(); ++slot) {
          if (group.size() == kMostParts || !joins(group, root, node(member), slot)) continue;
          std::set<int> larger = group;
          larger.insert(producers_[as_index(node(member).inputs[slot])]);
          if (inputs_of(larger) > kMostInputs) continue;
          group = std::move(larger);
          changed = true;
        }
      }
    }
    return group;
  }

  void replace(int root, const std::set<int>& group) {
    Expression expression;
    Node fused;
    fused.index = node(root).index;
    fused.name = node(root).name;
    fused.domain = kEtch;
    fused.op_type = "Expression";
    fused.op = find_op(kEtch, "Expression");
    fused.outputs = node(root).outputs;
    std::map<ValueId, ExpressionOperand> known;
    for (const int member : group) {
      ExpressionPart part{node(member), {}, *graph_.value(node(member).outputs[0]).shape};
      for (const ValueId id : node(member).inputs)
        part.inputs.push_back(operand_of(id, known, fused.inputs));
      known[node(member).outputs[0]] = {ExpressionOperand::From::kPart,
                                        static_cast<int>(expression.parts.size())};
      part.node.inputs.clear();
      part.node.outputs.clear();
      expression.parts.push_back(std::move(part));
      erased_[as_index(member)] = member != root;
    }
    fused.params = std::move(expression);
    take_range(fused, range_reader(root));
    graph_.nodes[as_index(root)] = std::move(fused);
  }

  Graph& graph_;
  bool ranges_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<bool> taken_;
  std::vector<bool> erased_;
};
}  // namespace

void fuse_expressions(Graph& graph, bool ranges) {
  graph.opsets.emplace(kEtch, 1);
  ExpressionFusion(graph, ranges).run();
}

}  // namespace etch
