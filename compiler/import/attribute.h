// NodeProto attributes -> Attribute. Internal to import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "compiler/diag/diagnostic.h"
#include "compiler/import/external_data.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/limits.h"

namespace etch {

// What the attributes of a function are in one call, by name. Those that neither the call nor a
// default gives are null.
using AttributeBindings = std::unordered_map<std::string_view, const onnx::AttributeProto*>;

// What `proto` says or, of a reference, what that stands for; null where that is not given. Reports
// E-ATTR at `node` where it refers to what `bindings` do not know, or to something of another type.
const onnx::AttributeProto* referred(const onnx::AttributeProto& proto,
                                     const AttributeBindings* bindings, const Node& node,
                                     Sink& sink);

bool is_flex_attention(const Node& node);
// Whether the attribute is a branch of an If, the body of a Loop or Scan, or what a FlexAttention
// does with its scores, which are not read here.
bool is_subgraph(const Node& node, const onnx::AttributeProto& proto);

// Reads all attributes of `proto` into `node`, whose name and index are already set; `bindings` are
// null outside functions. Reports E-ATTR (doubled, nameless, type and content disagree, reference
// to an unknown attribute), E-UNSUPPORTED (subgraphs, sparse tensors, types) and whatever
// decode_tensor reports.
void read_attributes(const onnx::NodeProto& proto, const AttributeBindings* bindings,
                     const Limits& limits, ExternalData& external, Node& node, Sink& sink);

}  // namespace etch
