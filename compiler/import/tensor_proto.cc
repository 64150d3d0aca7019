// Reads and writes tensor files; see tensor_proto.h.
#include "compiler/import/tensor_proto.h"

#include <onnx/onnx_pb.h>

#include "compiler/base/text.h"
#include "compiler/import/file.h"
#include "compiler/import/npy.h"
#include "compiler/import/parse.h"
#include "compiler/import/tensor_data.h"

namespace etch {

std::optional<Tensor> read_tensor_file(const std::string& path, Sink& sink) {
  const Limits limits;
  const std::string location = cat("tensor file '", printable(path), "'");
  const auto bytes = read_file(path, static_cast<std::size_t>(limits.file_bytes), location, sink);
  if (!bytes) return std::nullopt;
  if (bytes->empty()) {
    sink.error(DiagKind::kParse, location,
               "is empty: copy it again, or record it with `etch record`");
    return std::nullopt;
  }
  onnx::TensorProto proto;
  if (is_npy(*bytes)) {
    const std::string fault = read_npy(*bytes, proto);
    if (fault.empty()) return decode_tensor(proto, limits, location, sink);
    sink.error(DiagKind::kParse, location, fault);
    return std::nullopt;
  }
  if (!parse_message(*bytes, static_cast<int>(limits.depth), proto)) {
    sink.error(DiagKind::kParse, location,
               "neither a serialized TensorProto nor an array of NumPy");
    return std::nullopt;
  }
  return decode_tensor(proto, limits, location, sink);
}

std::string tensor_file(const Tensor& tensor, std::string_view name) {
  onnx::TensorProto proto;
  for (const std::int64_t size : tensor.shape()) proto.add_dims(size);
  proto.set_data_type(onnx_number_of(tensor.dtype()));
  proto.set_name(std::string(name));
  proto.set_raw_data(raw_data_of(tensor));
  return proto.SerializeAsString();
}

}  // namespace etch
