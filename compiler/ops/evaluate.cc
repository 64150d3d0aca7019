// Runs a graph node by node; see evaluate.h.
#include "compiler/ops/evaluate.h"

#include <utility>

#include "compiler/ops/op.h"

namespace etch {

namespace {
std::size_t index_of(ValueId id) { return static_cast<std::size_t>(id); }

// The tensors computed so far, and for how many uses each is still needed.
class Store {
 public:
  explicit Store(const Graph& graph)
      : graph_(graph), computed_(graph.values.size()), uses_(graph.values.size()) {
    const auto consumers = consumers_of(graph);
    for (std::size_t v = 0; v < uses_.size(); ++v) uses_[v] = consumers[v].size();
    for (const ValueId id : graph.outputs) ++uses_[index_of(id)];
  }

  void set(ValueId id, Tensor tensor) {
    const Value& value = graph_.value(id);
    ETCH_CHECK(value.dtype == tensor.dtype() && value.shape == tensor.shape());
    if (uses_[index_of(id)] > 0) computed_[index_of(id)] = std::move(tensor);
  }

  const Tensor* get(ValueId id) const {
    const Value& value = graph_.value(id);
    return value.constant ? value.constant.get() : &computed_[index_of(id)];
  }

  void release(ValueId id) {
    if (--uses_[index_of(id)] == 0) computed_[index_of(id)] = Tensor();
  }

 private:
  const Graph& graph_;
  std::vector<Tensor> computed_;
  std::vector<std::size_t> uses_;
};

void run(const Node& node, Store& store) {
  std::vector<const Tensor*> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(id == kNoValue ? nullptr : store.get(id));
  ETCH_CHECK(node.op != nullptr && node.op->reference != nullptr);
  std::vector<Tensor> outputs = node.op->reference(node, inputs);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) store.set(node.outputs[i], std::move(outputs[i]));
  }
  for (const ValueId id : node.inputs) {
    if (id != kNoValue) store.release(id);
  }
}
}  // namespace

std::vector<Tensor> evaluate(const Graph& graph, const std::vector<Tensor>& inputs) {
  ETCH_CHECK(inputs.size() == graph.inputs.size());
  Store store(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) store.set(graph.inputs[i], inputs[i]);
  for (const Node& node : graph.nodes) run(node, store);
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(*store.get(id));
  return outputs;
}

}  // namespace etch
