// The first look at the untrusted bytes of a model: how large, whether ONNX at all. Internal to
// import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <string_view>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/limits.h"

namespace etch {

// Parses a model that has a graph; false after E-LIMIT, E-PARSE or E-GRAPH.
[[nodiscard]] bool read_model_proto(std::string_view bytes, const Limits& limits,
                                    onnx::ModelProto& model, Sink& sink);

}  // namespace etch
