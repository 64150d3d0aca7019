// A node that hands on a value under another name.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// Of the same name and place as `origin`, whose part it takes.
Node identity_node(const Node& origin, ValueId from, ValueId to);

}  // namespace etch
