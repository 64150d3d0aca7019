// Types and attributes of nodes that are looked at before, or without, resolving them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "compiler/ir/graph.h"

namespace etch {

// The integer attribute `name`; `fallback` where it is absent or of another type, which resolving
// the node reports.
inline std::int64_t int_attribute(const Node& node, const char* name, std::int64_t fallback) {
  const auto found = node.attributes.find(name);
  const auto* const value =
      found == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? fallback : *value;
}

// An axis counted from 0, of a shape of `rank` axes; one that it does not have stays outside.
inline std::size_t from_start(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

inline bool is_one_of(std::string_view type, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, type) != names.end();
}

}  // namespace etch
