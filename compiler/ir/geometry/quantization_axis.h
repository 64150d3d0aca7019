// Which entry of a scale (and zero point) belongs to which element of a tensor, for
// QuantizeLinear and DequantizeLinear: one for the whole tensor, one per index of an axis, or one
// per block of consecutive indices of an axis (docs/spec/quantization.md section 2.2).
#pragma once

#include <cstdint>

namespace etch {

enum class QuantizationGranularity { kTensor, kAxis, kBlock };

// The tensor seen as [outer, size, inner], `size` being the quantized axis; all 1 per tensor.
struct QuantizationAxis {
  QuantizationGranularity granularity = QuantizationGranularity::kTensor;
  std::int64_t axis = 0;  // >= 0; without meaning per tensor
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
  std::int64_t block = 1;  // indices of the axis that share an entry

  // Entry for the element with flat index `element`.
  std::int64_t entry_of(std::int64_t element) const;
};

}  // namespace etch
