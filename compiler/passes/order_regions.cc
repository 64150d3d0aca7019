// See order_regions.h. From the outer regions to the inner ones: a beginning comes after what is
// around it.
#include "compiler/passes/order_regions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"

namespace etch {

namespace {
// Marks which nodes up to `end` depend on those that are marked.
void mark_dependents(const Graph& graph, std::size_t begin, std::size_t end,
                     std::vector<bool>& nodes) {
  std::vector<bool> values(graph.values.size(), false);
  for (std::size_t i = begin; i <= end; ++i) {
    const Node& node = graph.nodes[i];
    nodes[i] = nodes[i] || std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
                 return id != kNoValue && values[static_cast<std::size_t>(id)];
               });
    if (!nodes[i]) continue;
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) values[static_cast<std::size_t>(id)] = true;
    }
  }
}

// Which nodes up to `end` are inside the region that node `begin` begins: what depends on it, and
// the whole of each inner region that a part of depends on it, whatever that starts from.
std::vector<bool> inside_of(const Graph& graph, std::size_t begin, std::size_t end) {
  std::vector<bool> nodes(graph.nodes.size(), false);
  nodes[begin] = true;
  for (bool more = true; more;) {
    mark_dependents(graph, begin, end, nodes);
    more = false;
    for (std::size_t i = begin; i <= end; ++i) {
      if (nodes[i] || !is_region_begin(graph.nodes[i])) continue;
      const std::size_t inner_end = end_of_region(graph, i);
      if (inner_end < end && nodes[inner_end]) nodes[i] = more = true;
    }
  }
  return nodes;
}

// What depends on the beginning must lead to the end and to nothing else.
void check_enclosed(const Graph& graph, std::size_t begin, std::size_t end) {
  std::vector<bool> made(graph.values.size(), false);
  for (std::size_t i = begin; i < end; ++i) {
    for (const ValueId id : graph.nodes[i].outputs) {
      if (id != kNoValue) made[static_cast<std::size_t>(id)] = true;
    }
  }
  const auto outside = [&](ValueId id) {
    return id == kNoValue || !made[static_cast<std::size_t>(id)];
  };
  ETCH_CHECK(std::all_of(graph.outputs.begin(), graph.outputs.end(), outside));
  for (std::size_t i = end + 1; i < graph.nodes.size(); ++i) {
    const std::vector<ValueId>& inputs = graph.nodes[i].inputs;
    ETCH_CHECK(std::all_of(inputs.begin(), inputs.end(), outside));
  }
}
}  // namespace

void order_regions(Graph& graph) {
  for (std::size_t begin = 0; begin < graph.nodes.size(); ++begin) {
    if (!is_region_begin(graph.nodes[begin])) continue;
    const std::size_t end = end_of_region(graph, begin);
    const std::vector<bool> inside = inside_of(graph, begin, end);
    std::vector<Node> before, after;
    for (std::size_t i = begin; i <= end; ++i)
      (inside[i] ? after : before).push_back(std::move(graph.nodes[i]));
    const std::size_t moved = before.size();
    std::move(after.begin(), after.end(), std::back_inserter(before));
    std::move(before.begin(), before.end(),
              graph.nodes.begin() + static_cast<std::ptrdiff_t>(begin));
    check_enclosed(graph, begin + moved, end);
    // A region that came to be in front is looked at next, this one once more: it stays as it is.
    if (moved > 0) --begin;
  }
}

}  // namespace etch
