// Files that are not ONNX models but are often taken for one.
#pragma once

#include <string>
#include <string_view>

namespace etch {

// What a file with these contents is, and what gives a model of it: "is a TensorFlow Lite model:
// python -m tf2onnx.convert --tflite FILE --output model.onnx". Empty for what is not recognised,
// ONNX models among it.
std::string foreign_file(std::string_view bytes);

// Whether the contents are fields of a protobuf message that ends early: "ends 120 bytes too
// early", as a file does of which a part was copied. Empty otherwise.
std::string truncated_message(std::string_view bytes);

}  // namespace etch
