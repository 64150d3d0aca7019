// See quantization_axis.h.
#include "compiler/ir/geometry/quantization_axis.h"

namespace etch {

namespace {

std::int64_t count_of_blocks(std::int64_t size, std::int64_t block) {
  return size == 0 ? 0 : (size - 1) / block + 1;  // `block` may be huge: no size + block
}

}  // namespace

std::int64_t QuantizationAxis::entry_of(std::int64_t element) const {
  if (granularity == QuantizationGranularity::kTensor) return 0;
  const std::int64_t index = element / inner % size;
  if (granularity == QuantizationGranularity::kAxis) return index;
  const std::int64_t row = element / (inner * size) * count_of_blocks(size, block) + index / block;
  return row * inner + element % inner;
}

}  // namespace etch
