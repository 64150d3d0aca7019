// What passes ask about the explicit padding of convolutions and poolings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

// Of every spatial axis at its begin, then of every one at its end.
using Padding = std::vector<std::int64_t>;

// Whether the operator finds its padding by itself (auto_pad SAME_UPPER or SAME_LOWER).
inline bool pads_itself(const Node& node) {
  const auto found = node.attributes.find("auto_pad");
  if (found == node.attributes.end()) return false;
  const auto* value = std::get_if<std::string>(&found->second);
  return value == nullptr || (*value != "NOTSET" && *value != "VALID");
}

// The attribute `pads` of a node that does not pad itself; absent: 0 everywhere.
inline Padding pads_of(const Node& node, std::size_t spatial) {
  const auto found = node.attributes.find("pads");
  const auto* pads =
      found == node.attributes.end() ? nullptr : std::get_if<Padding>(&found->second);
  return pads == nullptr ? Padding(2 * spatial, 0) : *pads;
}

// The attribute `strides`; absent: 1 everywhere.
inline std::vector<std::int64_t> strides_of(const Node& node, std::size_t spatial) {
  const auto found = node.attributes.find("strides");
  const auto* strides = found == node.attributes.end()
                            ? nullptr
                            : std::get_if<std::vector<std::int64_t>>(&found->second);
  return strides == nullptr ? std::vector<std::int64_t>(spatial, 1) : *strides;
}

// The node with other padding; to be resolved again.
inline Node with_pads(Node node, Padding pads) {
  node.attributes.erase("auto_pad");
  node.attributes["pads"] = std::move(pads);
  node.params.reset();
  return node;
}

}  // namespace etch
