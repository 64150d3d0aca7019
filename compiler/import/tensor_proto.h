// Tensor files (serialized TensorProto), the form in which ONNX keeps test inputs and outputs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/tensor.h"

namespace etch {

// The tensor in the file at `path`, which may also be an array of NumPy (.npy). Reports E-IO,
// E-PARSE, E-TYPE, E-TENSOR, E-LIMIT, E-EXTDATA.
std::optional<Tensor> read_tensor_file(const std::string& path, Sink& sink);

// The bytes of a file that holds `tensor` as raw data under the name `name`, e.g. "output_0".
std::string tensor_file(const Tensor& tensor, std::string_view name);

}  // namespace etch
