// See loop_condition.h.
#include "compiler/passes/loop_condition.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"

namespace etch {

namespace {

// The part of a loop's body that its condition depends on, where that is closed: it reads nothing
// but constants, the number of the trip, and values whose next ones it computes itself.
class LoopCondition {
 public:
  LoopCondition(const Graph& graph, std::size_t begin, const Node& end)
      : graph_(graph),
        begin_(graph.nodes[begin]),
        end_(end),
        first_(begin + 1),
        carried_(static_cast<std::size_t>(std::get<std::int64_t>(end.attributes.at("carried")))),
        needed_(graph.nodes.size(), false) {
    for (std::size_t i = first_; i < graph.nodes.size(); ++i) {
      for (const ValueId id : graph.nodes[i].outputs) {
        if (id != kNoValue) makers_[id] = i;
      }
    }
  }

  std::optional<std::int64_t> trips(std::int64_t most) {
    if (!is_closed()) return std::nullopt;
    const Limits& limits = graph_.limits;
    most = std::min(most, limits.trips + 1);
    for (const std::size_t k : states_)
      values_[begin_.outputs[1 + k]] = *graph_.value(begin_.inputs[2 + k]).constant;
    std::int64_t work = 0;
    for (std::int64_t trip = 0; trip < most; ++trip) {
      work += run(trip);
      if (work > limits.operations) return std::nullopt;
      if (value(end_.inputs[1])->integer(0) == 0) return trip + 1;
      std::map<ValueId, Tensor> next;
      for (const std::size_t k : states_) next[begin_.outputs[1 + k]] = *value(next_of(k));
      for (auto& [id, tensor] : next) values_[id] = std::move(tensor);
    }
    return most;
  }

 private:
  ValueId next_of(std::size_t k) const { return end_.inputs[2 + carried_ + k]; }

  const Tensor* value(ValueId id) const {
    if (id == kNoValue) return nullptr;
    const Tensor* const constant = graph_.value(id).constant.get();
    return constant != nullptr ? constant : &values_.at(id);
  }

  // Finds what the condition depends on.
  bool is_closed() {
    std::vector<ValueId> open{end_.inputs[1]};
    while (!open.empty()) {
      const ValueId id = open.back();
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
  std::size_t first_;  // node of the body
  std::size_t carried_;
  std::map<ValueId, std::size_t> makers_;
  std::vector<bool> needed_;  // nodes
  std::vector<std::size_t> states_;
  std::map<ValueId, Tensor> values_;
};

}  // namespace

std::optional<std::int64_t> computed_trips(const Graph& graph, std::size_t begin, const Node& end,
                                           std::int64_t most) {
  return LoopCondition(graph, begin, end).trips(most);
}

}  // namespace etch
