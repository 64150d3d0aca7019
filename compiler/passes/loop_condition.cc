// See loop_condition.h.
#include "compiler/passes/loop_condition.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"

namespace etch {

namespace {

// Whether output 0 of `node` is its input.
bool is_copy_of_input(const Graph& graph, const Node& node) {
  if (node.domain != kOnnx) return false;
  const bool same = node.op_type == "Cast" &&
                    graph.value(node.inputs[0]).dtype == graph.value(node.outputs[0]).dtype;
  return node.op_type == "Identity" || same;
}

// The value that `id` is a copy of, or that it is another name of inside of an If; `id` itself if
// it is neither. `maker` finds the node that makes a value; null: none.
template <class Maker>
ValueId origin_of(const Graph& graph, ValueId id, Maker maker) {
  for (const Node* node = maker(id); node != nullptr; node = maker(id)) {
    const auto at = std::ranges::find(node->outputs, id) - node->outputs.begin();
    const bool guards = is_region_begin(*node) && node->op_type == "If" && at > 0;
    if (!guards && !is_copy_of_input(graph, *node)) return id;
    id = node->inputs[guards ? static_cast<std::size_t>(at) + 1 : 0];
  }
  return id;
}

// The part of a loop's body that its condition depends on, where that is closed: it reads nothing
// but constants, the number of the trip, and values whose next ones it computes itself.
class LoopCondition {
 public:
  LoopCondition(const Graph& graph, std::size_t begin, const Node& end, ValueId condition)
      : graph_(graph),
        begin_(graph.nodes[begin]),
        end_(end),
        condition_(condition),
        first_(begin + 1),
        carried_(static_cast<std::size_t>(std::get<std::int64_t>(end.attributes.at("carried")))),
        needed_(graph.nodes.size(), false) {
    for (std::size_t i = first_; i < graph.nodes.size(); ++i) {
      for (const ValueId id : graph.nodes[i].outputs) {
        if (id != kNoValue) makers_[id] = i;
      }
    }
  }

  // `work`: how many elements may be read and made; less what were.
  std::optional<std::int64_t> trips(std::int64_t most, std::int64_t& work) {
    if (!is_closed()) return std::nullopt;
    most = std::min(most, graph_.limits.trips + 1);
    for (const std::size_t k : states_)
      values_[begin_.outputs[1 + k]] = *graph_.value(begin_.inputs[2 + k]).constant;
    for (std::int64_t trip = 0; trip < most; ++trip) {
      work -= run(trip);
      if (work < 0) return std::nullopt;
      if (value(condition_)->integer(0) == 0) return trip + 1;
      std::map<ValueId, Tensor> next;
      for (const std::size_t k : states_) next[begin_.outputs[1 + k]] = *value(next_of(k));
      for (auto& [id, tensor] : next) values_[id] = std::move(tensor);
    }
    return most;
  }

 private:
  ValueId next_of(std::size_t k) const { return end_.inputs[2 + carried_ + k]; }

  ValueId origin(ValueId id) const {
    return origin_of(graph_, id, [&](ValueId of) {
      const auto maker = makers_.find(of);
      return maker == makers_.end() ? nullptr : &graph_.nodes[maker->second];
    });
  }

  const Tensor* value(ValueId id) const {
    if (id == kNoValue) return nullptr;
    id = origin(id);
    const Tensor* const constant = graph_.value(id).constant.get();
    return constant != nullptr ? constant : &values_.at(id);
  }

  // Finds what the condition depends on.
  bool is_closed() {
    std::vector<ValueId> open{condition_};
    while (!open.empty()) {
      const ValueId id = open.back() == kNoValue ? kNoValue : origin(open.back());
      open.pop_back();
      if (id == kNoValue || graph_.value(id).constant != nullptr || id == begin_.outputs[0])
        continue;
      const auto maker = makers_.find(id);
      if (maker == makers_.end()) {
        if (!add_state(id, open)) return false;
      } else if (!needed_[maker->second]) {
        const Node& node = graph_.nodes[maker->second];
        if (node.op == nullptr || node.op->reference == nullptr) return false;
        needed_[maker->second] = true;
        open.insert(open.end(), node.inputs.begin(), node.inputs.end());
      }
    }
    return true;
  }

  bool add_state(ValueId id, std::vector<ValueId>& open) {
    for (std::size_t k = 0; k < carried_; ++k) {
      if (begin_.outputs[1 + k] != id) continue;
      if (std::ranges::find(states_, k) != states_.end()) return true;
      const Value &now = graph_.value(id), &next = graph_.value(next_of(k));
      if (graph_.value(begin_.inputs[2 + k]).constant == nullptr) return false;
      if (now.shape != next.shape || now.dtype != next.dtype) return false;
      states_.push_back(k);
      open.push_back(next_of(k));
      return true;
    }
    return false;
  }

  // One trip; returns the elements that were read and made.
  std::int64_t run(std::int64_t trip) {
    Tensor number(DType::kS64, *graph_.value(begin_.outputs[0]).shape);
    number.as<std::int64_t>()[0] = trip;
    values_[begin_.outputs[0]] = std::move(number);
    std::int64_t work = 1;
    for (std::size_t i = first_; i < graph_.nodes.size(); ++i) {
      if (!needed_[i]) continue;
      const Node& node = graph_.nodes[i];
      std::vector<const Tensor*> inputs;
      for (const ValueId id : node.inputs) {
        inputs.push_back(value(id));
        if (inputs.back() != nullptr) work += 1 + inputs.back()->size();
      }
      std::vector<Tensor> outputs = node.op->reference(node, inputs);
      for (std::size_t k = 0; k < node.outputs.size(); ++k) {
        if (node.outputs[k] == kNoValue) continue;
        work += outputs[k].size();
        values_[node.outputs[k]] = std::move(outputs[k]);
      }
    }
    return work;
  }

  const Graph& graph_;
  const Node& begin_;
  const Node& end_;
  ValueId condition_;  // end.inputs[1], or one that it implies
  std::size_t first_;  // node of the body
  std::size_t carried_;
  std::map<ValueId, std::size_t> makers_;
  std::vector<bool> needed_;  // nodes
  std::vector<std::size_t> states_;
  std::map<ValueId, Tensor> values_;
};

// What holds whenever the condition of a loop holds.
class Implied {
 public:
  Implied(const Graph& graph, std::size_t begin) : graph_(graph) {
    for (std::size_t i = begin + 1; i < graph.nodes.size(); ++i) {
      for (const ValueId id : graph.nodes[i].outputs) {
        if (id != kNoValue) makers_[id] = i;
      }
    }
  }

  std::vector<ValueId> by(ValueId condition) {
    std::vector<ValueId> found{condition};
    for (std::size_t i = 0; i < found.size() && found.size() < kMost; ++i) add(found[i], found);
    return found;
  }

 private:
  const Node* maker(ValueId id) const {
    const auto found = makers_.find(id);
    return found == makers_.end() ? nullptr : &graph_.nodes[found->second];
  }
  ValueId origin(ValueId id) const {
    return origin_of(graph_, id, [&](ValueId of) { return maker(of); });
  }

  void add(ValueId id, std::vector<ValueId>& found) const {
    const Node* const node = maker(id = origin(id));
    if (node == nullptr) return;
    const bool reshapes =
        node->op_type == "Reshape" || node->op_type == "Squeeze" || node->op_type == "Unsqueeze";
    if (reshapes) found.push_back(node->inputs[0]);
    if (node->op_type == "And") found.insert(found.end(), node->inputs.begin(), node->inputs.end());
    if (is_region_end(*node) && params_of<RegionEnd>(*node).is_branch) add_of_if(id, *node, found);
  }

  // Of an If that is false, or its own false condition, where that does not hold.
  void add_of_if(ValueId id, const Node& second, std::vector<ValueId>& found) const {
    const RegionEnd& end = params_of<RegionEnd>(second);
    if (end.when || end.previous == 0) return;
    const auto at =
        static_cast<std::size_t>(std::ranges::find(second.outputs, id) - second.outputs.begin());
    const auto previous = static_cast<std::size_t>(end.previous);
    const ValueId otherwise = origin(second.inputs[2 + previous + at]);
    const Node* const first = maker(second.inputs[2 + at]);
    const Node* const begin = maker(second.inputs[0]);
    if (first == nullptr || begin == nullptr || !is_region_end(*first)) return;
    const ValueId condition = origin(begin->inputs[1]);
    const auto& constant = graph_.value(otherwise).constant;
    const bool is_false = constant != nullptr && constant->integer(0) == 0;
    if (!is_false && otherwise != condition) return;
    found.push_back(condition);
    found.push_back(first->inputs[2 + at]);
  }

  static constexpr std::size_t kMost = 16;
  const Graph& graph_;
  std::map<ValueId, std::size_t> makers_;
};

}  // namespace

std::optional<std::int64_t> computed_trips(const Graph& graph, std::size_t begin, const Node& end,
                                           std::int64_t most) {
  std::int64_t work = graph.limits.operations;
  return LoopCondition(graph, begin, end, end.inputs[1]).trips(most, work);
}

std::optional<std::int64_t> implied_trips(const Graph& graph, std::size_t begin, const Node& end,
                                          std::int64_t most) {
  // For all together: enough for the most trips of one that takes a few operators.
  std::int64_t work = graph.limits.operations / 64;
  const std::int64_t none = std::min(most, graph.limits.trips + 1);
  std::int64_t least = none;
  for (const ValueId condition : Implied(graph, begin).by(end.inputs[1]))
    least = LoopCondition(graph, begin, end, condition).trips(least, work).value_or(least);
  return least < none ? std::optional(least) : std::nullopt;
}

}  // namespace etch
