// The graph's bookkeeping: adding values, who makes and who uses them, and the invariants.
// The text form is in dump.cc.
#include "compiler/ir/graph.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"

namespace etch {

ValueId Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size()) - 1;
}

ValueId Graph::add_constant(Tensor tensor, std::string constant_name) {
  Value value;
  value.name = std::move(constant_name);
  value.dtype = tensor.dtype();
  value.shape = tensor.shape();
  value.constant = std::make_shared<const Tensor>(std::move(tensor));
  return add_value(std::move(value));
}

std::int64_t Graph::opset(const std::string& domain) const {
  const auto found = opsets.find(domain);
  return found == opsets.end() ? 0 : found->second;
}

namespace {
// The node of the file that `node` is a part of: a Loop, Scan or If becomes its beginning and its
// end.
std::string_view type_in_file(const Node& node) {
  constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"LoopEnd", "Loop"}, {"ScanEnd", "Scan"}, {"IfEnd", "If"}};
  if (node.domain != "org.etch") return node.op_type;
  for (const auto& [end, whole] : kEnds)
    if (node.op_type == end) return whole;
  return node.op_type;
}
}  // namespace

std::string location_of(const Node& node) {
  const std::string op = cat(" (", printable(type_in_file(node)), ")");
  if (node.name.empty()) return cat("node #", node.index, op);
  return cat("node '", printable(node.name), "'", op);
}

int input_file_of(const Graph& graph, ValueId id) {
  const auto found = std::ranges::find(graph.inputs, id);
  const auto at = static_cast<std::size_t>(found - graph.inputs.begin());
  return at < graph.input_files.size() ? graph.input_files[at] : -1;
}

std::string constant_hint(const Graph& graph, ValueId id) {
  if (input_file_of(graph, id) < 0) return {};
  constexpr std::size_t kWhole = 1000;  // a name to type
  const std::string name = printable(graph.value(id).name, kWhole);
  const std::optional<Shape>& shape = graph.value(id).shape;
  const bool one = shape && element_count(*shape) == 1;
  return cat("; give it with --constant ", name, one ? "=N" : "=N,...", " or ", name, "=FILE.pb");
}

std::vector<std::vector<int>> consumers_of(const Graph& graph) {
  std::vector<std::vector<int>> out(graph.values.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId input : graph.nodes[n].inputs) {
      if (input != kNoValue) out[static_cast<std::size_t>(input)].push_back(static_cast<int>(n));
    }
  }
  return out;
}

std::vector<int> producers_of(const Graph& graph) {
  std::vector<int> out(graph.values.size(), -1);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId output : graph.nodes[n].outputs) {
      if (output != kNoValue) out[static_cast<std::size_t>(output)] = static_cast<int>(n);
    }
  }
  return out;
}

namespace {

// What each value is once the nodes before a point have run.
class Availability {
 public:
  explicit Availability(const Graph& graph) : graph_(graph), available_(graph.values.size()) {
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      available_[v] = graph.values[v].constant != nullptr;
    }
    for (const ValueId input : graph.inputs) define(input);
  }

  void define(ValueId id) {
    check_range(id);
    ETCH_CHECK(!available_[static_cast<std::size_t>(id)]);  // one producer per value
    available_[static_cast<std::size_t>(id)] = true;
  }

  void use(ValueId id) const {
    check_range(id);
    ETCH_CHECK(available_[static_cast<std::size_t>(id)]);  // topological order
  }

 private:
  void check_range(ValueId id) const {
    ETCH_CHECK(id >= 0 && static_cast<std::size_t>(id) < graph_.values.size());
  }

  const Graph& graph_;
  std::vector<bool> available_;
};

void verify_typed(const Value& value) {
  ETCH_CHECK(value.dtype.has_value());
  ETCH_CHECK(value.shape.has_value());
  ETCH_CHECK(std::all_of(value.shape->begin(), value.shape->end(),
                         [](std::int64_t size) { return size >= 0; }));
}

}  // namespace

void verify(const Graph& graph, Resolved resolved) {
  Availability available(graph);
  for (const Node& node : graph.nodes) {
    for (const ValueId input : node.inputs) {
      if (input != kNoValue) available.use(input);
    }
    for (const ValueId output : node.outputs) {
      if (output != kNoValue) available.define(output);
    }
    if (resolved == Resolved::kYes) ETCH_CHECK(node.op != nullptr);
  }
  for (const ValueId output : graph.outputs) available.use(output);
  for (const Value& value : graph.values) {
    if (value.constant != nullptr) {
      ETCH_CHECK(value.dtype == value.constant->dtype());
      ETCH_CHECK(value.shape == value.constant->shape());
    }
    if (resolved == Resolved::kYes) verify_typed(value);
  }
}

}  // namespace etch
