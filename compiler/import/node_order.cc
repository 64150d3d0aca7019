// See node_order.h.
#include "compiler/import/node_order.h"

#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace etch {

namespace {

using Ready = std::priority_queue<int, std::vector<int>, std::greater<>>;

// The node that makes each name; of several the first.
std::unordered_map<std::string_view, int> makers(const NodeProtos& nodes) {
  std::unordered_map<std::string_view, int> out;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes.Get(i).output()) {
      if (!name.empty()) out.try_emplace(name, i);
    }
  }
  return out;
}

void add_names_read(const onnx::NodeProto& node, std::vector<std::string_view>& out);

// The names that a subgraph reads and does not define.
void add_names_read(const onnx::GraphProto& graph, std::vector<std::string_view>& out) {
  std::unordered_set<std::string_view> own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& initializer : graph.initializer()) own.insert(initializer.name());
  std::vector<std::string_view> names;
  for (const auto& node : graph.node()) {
    for (const std::string& name : node.output()) own.insert(name);
    add_names_read(node, names);
  }
  for (const auto& output : graph.output()) names.push_back(output.name());
  for (const std::string_view name : names) {
    if (!own.contains(name)) out.push_back(name);
  }
}

void add_names_read(const onnx::NodeProto& node, std::vector<std::string_view>& out) {
  out.insert(out.end(), node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add_names_read(attribute.g(), out);
  }
}

}  // namespace

std::vector<std::string_view> names_read_by(const onnx::NodeProto& node) {
  std::vector<std::string_view> out;
  add_names_read(node, out);
  return out;
}

std::vector<int> topological_order(const NodeProtos& protos) {
  const auto nodes = static_cast<std::size_t>(protos.size());
  const auto made_by = makers(protos);
  std::vector<int> missing(nodes, 0);  // inputs whose makers are not in the order yet
  std::vector<std::vector<int>> readers(nodes);
  for (int i = 0; i < protos.size(); ++i) {
    for (const std::string_view name : names_read_by(protos.Get(i))) {
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
