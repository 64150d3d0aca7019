// Lowering of GatherBlockQuantized to rows of a packed table.
#include <algorithm>

#include "compiler/kernels/products/packed_weights.h"
#include "compiler/ops/gather_block_quantized/op.h"

namespace etch {

namespace {
bool is_unsigned(const Tensor& data, const Tensor* zeros) {
  const auto has_negative = [](const Tensor& tensor) {
    const std::vector<std::int64_t> values = tensor.integers();
    return std::any_of(values.begin(), values.end(), [](std::int64_t v) { return v < 0; });
  };
  return !has_negative(data) && (zeros == nullptr || !has_negative(*zeros));
}
}  // namespace

void lower_gather_block_quantized(Lowering& lowering, const Node& node) {
  const auto& p = params_of<GatherBlockQuantized>(node);
  const Tensor& data = lowering.constant(node, 0);
  const bool has_zeros = node.inputs.size() > 3 && node.inputs[3] != kNoValue;
  const Tensor* const zeros = has_zeros ? &lowering.constant(node, 3) : nullptr;
  PackedRows rows;
  rows.size = p.size;
  rows.inner = p.inner;
  rows.block = p.block;
  rows.row_scales = p.row_scales();
  const bool packed = p.type == DType::kU8;
  // Elements of 4 bits are either in [-8, 7] or in [0, 15]; what is added makes them unsigned.
  const int offset = packed || is_unsigned(data, zeros) ? 0 : 8;
  rows.bits = packed ? static_cast<int>(p.bits) : 4;
  rows.one_zero = !has_zeros;
  rows.value_at = [&](std::int64_t row, std::int64_t k) {
    return p.value_at(data, row, k) + offset;
  };
  rows.zero_at = [&](std::int64_t row, std::int64_t i) {
    return p.zero_at(zeros, row, i) + offset;
  };
  add_packed_gather(lowering, node, rows);
}

}  // namespace etch
