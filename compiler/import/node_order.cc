// See node_order.h.
#include "compiler/import/node_order.h"

#include <onnx/onnx_pb.h>

#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>

namespace etch {

namespace {

using Ready = std::priority_queue<int, std::vector<int>, std::greater<>>;

// The node that makes each name; of several the first.
std::unordered_map<std::string_view, int> makers(const onnx::GraphProto& graph) {
  std::unordered_map<std::string_view, int> out;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).output()) {
      if (!name.empty()) out.try_emplace(name, i);
    }
  }
  return out;
}

}  // namespace

std::vector<int> topological_order(const onnx::GraphProto& graph) {
  const auto nodes = static_cast<std::size_t>(graph.node_size());
  const auto made_by = makers(graph);
  std::vector<int> missing(nodes, 0);  // inputs whose makers are not in the order yet
  std::vector<std::vector<int>> readers(nodes);
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).input()) {
      const auto maker = made_by.find(name);
      if (maker == made_by.end()) continue;
      readers[static_cast<std::size_t>(maker->second)].push_back(i);
      ++missing[static_cast<std::size_t>(i)];
    }
  }
  Ready ready;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (missing[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  for (; !ready.empty();) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const int reader : readers[static_cast<std::size_t>(next)]) {
      if (--missing[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    if (missing[i] > 0) order.push_back(static_cast<int>(i));
  }
  return order;
}

}  // namespace etch
