// NodeProto attributes -> Attribute. Internal to import/.
#pragma once

#include <onnx/onnx_pb.h>

#include "compiler/diag/diagnostic.h"
#include "compiler/import/external_data.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/limits.h"

namespace etch {

// Reads all attributes of `proto` into `node`, whose name and index are already set. Reports
// E-ATTR (doubled, nameless, type and content disagree, reference outside a function),
// E-UNSUPPORTED (subgraphs, sparse tensors, types) and whatever decode_tensor reports.
void read_attributes(const onnx::NodeProto& proto, const Limits& limits, ExternalData& external,
                     Node& node, Sink& sink);

}  // namespace etch
