// See origin.h.
#include "compiler/ir/origin.h"

#include <set>
#include <vector>

namespace etch {

ValueId only_input_of(const Graph& graph, ValueId id, std::int64_t most_elements) {
  const std::vector<int> producers = producers_of(graph);
  std::set<ValueId> seen = {id};
  std::vector<ValueId> open = {id};
  ValueId found = kNoValue;
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    const Value& value = graph.value(next);
    if (value.constant != nullptr) continue;
    const int producer = producers[static_cast<std::size_t>(next)];
    if (producer < 0) {
      if (found != kNoValue || !value.shape || element_count(*value.shape) > most_elements)
        return kNoValue;
      found = next;
      continue;
    }
    for (const ValueId each : graph.nodes[static_cast<std::size_t>(producer)].inputs) {
      if (each != kNoValue && seen.insert(each).second) open.push_back(each);
    }
  }
  return found;
}

}  // namespace etch
