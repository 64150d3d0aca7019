// TensorProto -> Tensor, and the mapping of element types. Internal to import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/import/external_data.h"
#include "compiler/ir/limits.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ir/tensor.h"

namespace etch {

// "float8e4m3fn (17)" for diagnostics; numbers we have no name for stay numbers.
std::string onnx_type_text(std::int32_t number);

// The tensor, its payload checked against type and shape. Reports at `location` E-TYPE (element
// type), E-TENSOR (payload, negative sizes), E-LIMIT (size) or what `external` reports, without
// which data in other files is E-EXTDATA.
std::optional<Tensor> decode_tensor(const onnx::TensorProto& proto, const Limits& limits,
                                    const std::string& location, Sink& sink,
                                    ExternalData* external = nullptr);

// The elements as raw_data stores them: as they are in memory, except that 4-bit elements go two
// per byte, the first in the low bits.
std::string raw_data_of(const Tensor& tensor);

}  // namespace etch
