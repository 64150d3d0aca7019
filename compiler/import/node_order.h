// The order in which nodes are read: ONNX asks for topological order, and files of some tools have
// another one.
#pragma once

#include <vector>

namespace onnx {
class GraphProto;
}

namespace etch {

// Positions of all nodes so that each comes after those that make its inputs, in the order of the
// file as far as possible. Nodes of a cycle, and what depends on them, come last.
std::vector<int> topological_order(const onnx::GraphProto& graph);

}  // namespace etch
