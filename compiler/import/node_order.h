// The order in which nodes are read: ONNX asks for topological order, and files of some tools have
// another one.
#pragma once

#include <onnx/onnx_pb.h>

#include <string_view>
#include <vector>

namespace etch {

using NodeProtos = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// All names that `node` reads, also those that its subgraphs read from around them.
std::vector<std::string_view> names_read_by(const onnx::NodeProto& node);

// Positions of all nodes so that each comes after those that make its inputs, in the order of the
// file as far as possible. Nodes of a cycle, and what depends on them, come last.
std::vector<int> topological_order(const NodeProtos& nodes);

}  // namespace etch
