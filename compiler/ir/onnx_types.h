// Element types by ONNX's numbers (TensorProto.DataType in onnx.proto), as files and attributes
// like Cast's `to` have them.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/dtype.h"

namespace etch {

// Null: 0 (undefined), strings, complex, float8 and unknown ones.
std::optional<DType> dtype_from_onnx(std::int64_t number);
std::int32_t onnx_number_of(DType dtype);

}  // namespace etch
