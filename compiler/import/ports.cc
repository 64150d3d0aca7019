// See ports.h.
#include "compiler/import/ports.h"

#include <onnx/onnx_pb.h>

#include <set>

#include "compiler/import/model_proto.h"
#include "compiler/ir/onnx_types.h"

namespace etch {
namespace {

DeclaredPort port_of(const onnx::ValueInfoProto& info, const ImportOptions& options) {
  DeclaredPort port{info.name(), {}, {}};
  if (!info.type().has_tensor_type()) return port;
  const auto& tensor = info.type().tensor_type();
  port.dtype = dtype_from_onnx(tensor.elem_type());
  if (const auto given = options.input_shapes.find(info.name());
      given != options.input_shapes.end()) {
    port.sizes.emplace(given->second.begin(), given->second.end());
    return port;
  }
  if (!tensor.has_shape()) return port;
  port.sizes.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    const bool fixed = dim.has_dim_value() && dim.dim_value() > 0;
    const auto given = options.dims.find(dim.dim_param());
    const std::int64_t open = given == options.dims.end() ? -1 : given->second;
    port.sizes->push_back(fixed ? dim.dim_value() : open);
  }
  return port;
}

}  // namespace

std::optional<DeclaredPorts> declared_ports(std::string_view bytes, const ImportOptions& options,
                                            Sink& sink) {
  onnx::ModelProto model;
  if (!read_model_proto(bytes, options.limits, model, sink)) return std::nullopt;
  std::set<std::string> initialized;
  for (const auto& tensor : model.graph().initializer()) initialized.insert(tensor.name());
  DeclaredPorts ports;
  for (const auto& input : model.graph().input()) {
    if (!initialized.contains(input.name())) ports.inputs.push_back(port_of(input, options));
  }
  for (const auto& output : model.graph().output())
    ports.outputs.push_back(port_of(output, options));
  return ports;
}

}  // namespace etch
