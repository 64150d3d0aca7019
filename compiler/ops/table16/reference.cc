// Table16 by a plain loop; see op.h.
#include "compiler/ops/op.h"
#include "compiler/ops/reference_math.h"
#include "compiler/ops/table16/op.h"

namespace etch {

std::vector<Tensor> table16_reference(const Node&, std::span<const Tensor* const> inputs) {
  const DType type = inputs[0]->dtype();
  const std::vector<std::int32_t> x = widened(*inputs[0]), table = widened(*inputs[1]);
  std::vector<std::int32_t> y;
  y.reserve(x.size());
  for (const std::int32_t value : x)
    y.push_back(table[static_cast<std::size_t>(value - min_of(type))]);
  return {narrowed(type, inputs[0]->shape(), y)};
}

}  // namespace etch
