// The names that nodes see while they are read: those of the graph, of a function's body, or of a
// branch of an If or the body of a Loop or Scan, which also see what is around them. Internal to
// import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/import/attribute.h"
#include "compiler/ir/graph.h"

namespace etch {

struct ModelFunction;  // compiler/import/function_table.h

// Its keys point into the file's messages, which outlive it.
struct Scope {
  Scope* outer = nullptr;                       // of a branch: what is around it
  const ModelFunction* function = nullptr;      // whose body it is, or is in
  const AttributeBindings* bindings = nullptr;  // of that function's attributes
  int index = -1;                               // Node::index of all nodes here; -1: its position
  std::string prefix;                           // of names here: "call/"

  std::unordered_map<std::string_view, ValueId> ids;      // names defined so far
  std::unordered_map<std::string_view, ValueId> results;  // names whose values there are already
  std::unordered_set<std::string_view> made_by_nodes;     // of this scope, read or not
  std::vector<ValueId> captured;                          // what was found around it

  std::optional<ValueId> find(std::string_view name) {
    const auto found = ids.find(name);
    if (found != ids.end()) return found->second;
    if (outer == nullptr) return std::nullopt;
    const auto id = outer->find(name);
    if (id && *id != kNoValue) captured.push_back(*id);
    return id;
  }
  // Whether the name is defined so far, here or around.
  bool sees(std::string_view name) const {
    return ids.contains(name) || (outer != nullptr && outer->sees(name));
  }
  bool is_made_by_a_node(std::string_view name) const {
    return made_by_nodes.contains(name) || (outer != nullptr && outer->is_made_by_a_node(name));
  }
};

}  // namespace etch
