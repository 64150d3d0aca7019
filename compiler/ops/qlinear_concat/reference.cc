// QLinearConcat by plain loops; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_concat/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> qlinear_concat_reference(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QLinearConcat>(node);
  const auto axis = params.shape.begin() + params.axis;
  const std::int64_t outer = element_count(Shape(params.shape.begin(), axis));
  std::vector<std::vector<std::int32_t>> parts;
  for (std::size_t i = 0; i < params.x.size(); ++i) {
    parts.push_back(widened(*inputs[2 + 3 * i]));
    if (params.x[i] == params.y) continue;
    for (std::int32_t& q : parts[i]) {
      q = quantized(dequantized(q, params.x[i]), params.y, params.dtype);
    }
  }
  std::vector<std::int32_t> y;
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const auto& part : parts) {
      const auto size = static_cast<std::int64_t>(part.size()) / outer;
      y.insert(y.end(), part.begin() + row * size, part.begin() + (row + 1) * size);
    }
  }
  return {narrowed(params.dtype, params.shape, y)};
}

}  // namespace etch
