// The name of a generated network when the user gives none.
#pragma once

#include <filesystem>
#include <string>

namespace etch::cli {

// The file's stem made a name that is_usable_name() (compiler/text/names.h) accepts:
// "MobileNet-V2.onnx" -> "MobileNet_V2", "7.onnx" -> "model_7", "int.onnx" -> "model_int".
std::string name_from_path(const std::filesystem::path& model);

}  // namespace etch::cli
