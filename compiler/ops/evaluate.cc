// Runs a graph node by node; see evaluate.h. Loops are said again in plain words here, apart from
// anything that lowering does.
#include "compiler/ops/evaluate.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"

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
    keeps_all_ = has_regions(graph);  // what is around a loop is read in every trip
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

  // Nothing reads other values, and none is kept.
  bool is_read(ValueId id) const { return uses_[index_of(id)] > 0; }

  void release(ValueId id) {
    if (!keeps_all_ && --uses_[index_of(id)] == 0) computed_[index_of(id)] = Tensor();
  }

 private:
  const Graph& graph_;
  std::vector<Tensor> computed_;
  std::vector<std::size_t> uses_;
  bool keeps_all_ = false;
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

class Runner {
 public:
  Runner(const Graph& graph, Store& store) : graph_(graph), store_(store) {}

  void run_range(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (!is_region_begin(graph_.nodes[i])) {
        run(graph_.nodes[i], store_);
        continue;
      }
      const std::size_t end = end_of_region(graph_, i);
      run_region(i, end);
      i = end;
    }
  }

 private:
  const Tensor& input(const Node& node, std::size_t i) const { return *store_.get(node.inputs[i]); }

  void run_region(std::size_t first, std::size_t last) {
    const Node &begin = graph_.nodes[first], &end = graph_.nodes[last];
    const auto& params = params_of<RegionEnd>(end);
    const auto carried = static_cast<std::size_t>(params.carried);
    for (std::size_t k = 1; k < begin.outputs.size(); ++k)
      set(begin.outputs[k], input(begin, 1 + k));
    start_results(end, params);
    bool goes_on = !params.conditional || (input(begin, 1).integer(0) != 0) == params.when;
    for (std::int64_t trip = 0; goes_on && trip < params.trips; ++trip) {
      Tensor number(DType::kS64, *graph_.value(begin.outputs[0]).shape);
      number.as<std::int64_t>()[0] = trip;
      set(begin.outputs[0], std::move(number));
      run_range(first + 1, last);
      std::vector<Tensor> next;
      const std::size_t results = 2 + static_cast<std::size_t>(params.previous);
      for (std::size_t k = 0; k < carried; ++k) next.push_back(input(end, results + k));
      for (std::size_t k = 0; k < params.slices.size(); ++k) {
        if (is_made(end, carried + k) && store_.is_read(end.outputs[carried + k]))
          put(input(end, results + carried + k), trip, params.slices[k], end.outputs[carried + k]);
      }
      if (params.conditional && end.inputs[1] != kNoValue) goes_on = input(end, 1).integer(0) != 0;
      for (std::size_t k = 0; k < carried; ++k) {
        if (!params.is_branch) set(begin.outputs[1 + k], next[k]);
        if (is_made(end, k)) set(end.outputs[k], next[k]);
      }
    }
  }

  static bool is_made(const Node& node, std::size_t k) {
    return k < node.outputs.size() && node.outputs[k] != kNoValue;
  }

  void set(ValueId id, Tensor tensor) {
    if (id != kNoValue) store_.set(id, std::move(tensor));
  }

  // The results where there is no trip.
  void start_results(const Node& end, const RegionEnd& params) {
    for (std::size_t k = 0; k < end.outputs.size(); ++k) {
      if (!is_made(end, k)) continue;
      const Value& value = graph_.value(end.outputs[k]);
      const bool has_previous = std::cmp_less(k, params.previous);
      set(end.outputs[k], has_previous ? input(end, 2 + k) : Tensor(*value.dtype, *value.shape));
    }
  }

  // Writes slice `trip` of value `id`.
  void put(const Tensor& slice, std::int64_t trip, const RegionEnd::Slices& how, ValueId id) {
    Tensor whole = *store_.get(id);
    const Shape& shape = whole.shape();
    std::int64_t inner = bytes_of(whole.dtype());
    for (std::size_t d = how.axis + 1; d < shape.size(); ++d) inner *= shape[d];
    const std::int64_t size = shape[how.axis];
    const std::int64_t place = how.reversed ? size - 1 - trip : trip;
    const std::int64_t bytes = std::ssize(slice.bytes());
    for (std::int64_t outer = 0; outer * inner < bytes; ++outer) {
      std::copy_n(slice.bytes().begin() + outer * inner, inner,
                  whole.mutable_bytes().begin() + (outer * size + place) * inner);
    }
    set(id, std::move(whole));
  }

  const Graph& graph_;
  Store& store_;
};
}  // namespace

std::vector<Tensor> evaluate(const Graph& graph, const std::vector<Tensor>& inputs) {
  ETCH_CHECK(inputs.size() == graph.inputs.size());
  Store store(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) store.set(graph.inputs[i], inputs[i]);
  Runner(graph, store).run_range(0, graph.nodes.size());
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(*store.get(id));
  return outputs;
}

}  // namespace etch
