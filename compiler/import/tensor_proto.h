// Tensor files (serialized TensorProto), the form in which ONNX keeps test inputs and outputs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/tensor.h"

namespace etch {

// The tensor in the file at `path`. Reports E-IO, E-PARSE, E-TYPE, E-TENSOR, E-LIMIT, E-EXTDATA.
std::optional<Tensor> read_tensor_file(const std::string& path, Sink& sink);

// Writes `tensor` as raw data under the name `name`, for example "output_0". Reports E-IO.
[[nodiscard]] bool write_tensor_file(const std::string& path, const Tensor& tensor,
                                     std::string_view name, Sink& sink);

}  // namespace etch
