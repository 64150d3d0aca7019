// Other names for values that nodes read or write, in the branches of nodes too.
#pragma once

#include <map>
#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

using Names = std::map<ValueId, ValueId>;  // from the old one to the new one

void rename(std::vector<ValueId>& ids, const Names& names);
void rename(std::vector<Node>& nodes, const Names& read, const Names& written);

}  // namespace etch
