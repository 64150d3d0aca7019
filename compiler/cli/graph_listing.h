// A graph as a table for people: one line per node, and what the passes did with the nodes. For
// `etch inspect`.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace etch::cli {

// One node: what it makes and where its inputs come from. All text is printable.
struct ListedNode {
  int index = -1;  // Node::index: position in the file
  std::string op_type;
  std::string output;              // "uint8[1, 16, 8, 8]" of the first output; "?" where unknown
  std::vector<std::string> reads;  // "#3" for the node at 3, "input 0" for a graph input
  int constants = 0;
  std::string name;
};

// The nodes in order. Types and shapes that are missing in `graph` come from the values of the
// same name in `typed`.
std::vector<ListedNode> list_nodes(const Graph& graph, const Graph& typed);

// The table with a line of headings, columns aligned.
std::vector<std::string> table_of(const std::vector<ListedNode>& nodes);

// What was fused, counted by kind, then every node that was not, with the reason.
std::vector<std::string> lines_of(const FusionLog& fusions);

}  // namespace etch::cli
