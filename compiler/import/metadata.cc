// See metadata.h.
#include "compiler/import/metadata.h"

#include <onnx/onnx_pb.h>

#include "compiler/import/parse.h"

namespace etch {

std::optional<std::string> metadata_of(std::string_view model, std::string_view key,
                                       const Limits& limits) {
  if (model.find(key) == std::string_view::npos) return std::nullopt;  // nearly all models
  onnx::ModelProto proto;
  if (!parse_message(model, static_cast<int>(limits.depth), proto)) return std::nullopt;
  std::optional<std::string> out;
  for (const auto& entry : proto.metadata_props()) {
    if (entry.key() == key) out = entry.value();
  }
  return out;
}

}  // namespace etch
