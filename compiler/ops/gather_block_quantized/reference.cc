// GatherBlockQuantized by plain loops; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/gather_block_quantized/op.h"

namespace etch {

std::vector<Tensor> reference_gather_block_quantized(const Node& node,
                                                     std::span<const Tensor* const> inputs) {
  const auto& p = params_of<GatherBlockQuantized>(node);
  const Tensor* const zeros = inputs.size() > 3 ? inputs[3] : nullptr;
  const auto scales = inputs[2]->as<float>();
  Tensor y(DType::kF32, p.shape);
  auto to = y.as<float>().begin();
  for (const std::int64_t index : inputs[1]->integers()) {
    const std::int64_t row = index < 0 ? index + p.size : index;
    for (std::int64_t k = 0; k < p.inner; ++k, ++to) {
      if (row < 0 || row >= p.size) continue;  // stays 0
      const std::int64_t per_axis = (p.last - 1) / p.block + 1;
      const std::int64_t entry = k / p.last * per_axis + k % p.last / p.block;
      const int difference = p.value_at(*inputs[0], row, k) - p.zero_at(zeros, row, entry);
      *to = static_cast<float>(difference) * scales[as_index(row * p.row_scales() + entry)];
    }
  }
  return {y};
}

}  // namespace etch
