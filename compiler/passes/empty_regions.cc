// See empty_regions.h.
#include "compiler/passes/empty_regions.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "compiler/ir/op_def.h"
#include "compiler/ops/identity/node.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"

namespace etch {

namespace {
std::int64_t& count_of(Node& node, const char* attribute) {
  return std::get<std::int64_t>(node.attributes.at(attribute));
}

bool is_empty(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).shape && element_count(*graph.value(id).shape) == 0;
}

void know(Graph& graph, ValueId id, DType type, const Shape& shape) {
  if (id == kNoValue) return;
  Value& value = graph.value(id);
  value.dtype = type;
  value.shape = shape;
  value.constant = std::make_shared<const Tensor>(type, shape);
}

void erase(std::vector<ValueId>& ids, std::size_t at) {
  ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
}

void drop_carried(Graph& graph, Node& begin) {
  if (!begin.attributes.contains("carried")) return;
  std::int64_t& carried = count_of(begin, "carried");
  for (auto k = static_cast<std::size_t>(carried); k-- > 0;) {
    if (!is_empty(graph, begin.inputs[2 + k])) continue;
    const Value first = graph.value(begin.inputs[2 + k]);
    know(graph, begin.outputs[1 + k], *first.dtype, *first.shape);
    erase(begin.inputs, 2 + k);
    erase(begin.outputs, 1 + k);
    --carried;
  }
}

// Those of a loop and of an If's second branch have a previous value, which must be alike.
void drop_results(Graph& graph, Node& end) {
  std::int64_t &carried = count_of(end, "carried"), &previous = count_of(end, "previous");
  for (auto k = static_cast<std::size_t>(carried); k-- > 0;) {
    const std::size_t next = 2 + static_cast<std::size_t>(previous) + k;
    if (!is_empty(graph, end.inputs[next])) continue;
    const Value result = graph.value(end.inputs[next]);
    if (previous > 0) {
      const Value& before = graph.value(end.inputs[2 + k]);
      const bool is_dropped = before.constant != nullptr && is_empty(graph, end.inputs[2 + k]);
      if (!is_dropped || before.dtype != result.dtype || before.shape != result.shape) continue;
    }
    know(graph, end.outputs[k], *result.dtype, *result.shape);
    erase(end.inputs, next);
    erase(end.outputs, k);
    --carried;
    if (previous == 0) continue;
    erase(end.inputs, 2 + k);
    --previous;
  }
}
}  // namespace

void drop_empty(Graph& graph, Node& edge) {
  if (is_region_begin(edge)) drop_carried(graph, edge);
  if (is_region_end(edge)) drop_results(graph, edge);
}

bool makes_no_trip(const Node& end) {
  if (!is_region_end(end) || !end.params.has_value()) return false;
  const auto& params = params_of<RegionEnd>(end);
  return !params.is_branch && params.trips == 0;
}

std::vector<Node> without_loop(Graph& graph, const Node& end) {
  const auto begin = std::ranges::find_if(graph.nodes, [&](const Node& node) {
    return is_region_begin(node) && node.outputs[0] == end.inputs[0];
  });
  const auto carried = static_cast<std::size_t>(params_of<RegionEnd>(end).carried);
  // The first value of what the body calls `name`; what was dropped is a constant by that name.
  const auto first_of = [&](ValueId name) {
    const auto found = std::ranges::find(begin->outputs, name);
    if (found == begin->outputs.end()) return name;
    return begin->inputs[static_cast<std::size_t>(found - begin->outputs.begin()) + 1];
  };
  std::vector<Node> out;
  for (std::size_t k = 0; k < end.outputs.size(); ++k) {
    const ValueId id = end.outputs[k];
    if (id == kNoValue) continue;
    if (k >= carried) {
      know(graph, id, *graph.value(id).dtype, *graph.value(id).shape);
      continue;
    }
    out.push_back(identity_node(end, first_of(end.inputs[2 + k]), id));
  }
  graph.fusions.fused(end, "makes no trip: results are what the loop begins with");
  graph.nodes.erase(begin, graph.nodes.end());
  return out;
}

}  // namespace etch
