// See model_functions.h.
#include "compiler/import/model_functions.h"

#include <onnx/onnx_pb.h>

#include "compiler/import/parse.h"

namespace etch {

std::vector<std::string> model_functions(std::string_view bytes, const Limits& limits) {
  std::vector<std::string> names;
  onnx::ModelProto model;
  if (!parse_message(bytes, static_cast<int>(limits.depth), model)) return names;
  for (const onnx::FunctionProto& function : model.functions()) names.push_back(function.name());
  return names;
}

}  // namespace etch
