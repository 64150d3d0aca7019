// Values of a graph by other names, as passes need them that copy nodes or change types.
#pragma once

#include <map>
#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

using ValueNames = std::map<ValueId, ValueId>;

// Each id that has another name becomes that.
inline void rename_values(std::vector<ValueId>& ids, const ValueNames& names) {
  for (ValueId& id : ids) {
    if (const auto found = names.find(id); found != names.end()) id = found->second;
  }
}

}  // namespace etch
