// QLinearGlobalAveragePool by plain loops; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_global_average_pool/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

Tensor global_average(const QLinearGlobalAveragePool& params, const Tensor& x) {
  const std::vector<std::int32_t> from = widened(x);
  const bool last = params.layout == ConvLayout::kChannelsLast;
  const std::int64_t step = last ? params.channels : 1;
  std::vector<std::int32_t> y;
  for (std::int64_t n = 0; n < params.batch; ++n) {
    for (std::int64_t c = 0; c < params.channels; ++c) {
      const std::int64_t first = n * params.channels * params.plane + (last ? c : c * params.plane);
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < params.plane; ++i) sum += from[as_index(first + i * step)];
      const auto accumulator = wrap_to_int32(sum - params.x_zero_point * params.plane);
      y.push_back(requantize(accumulator, params.scale, params.y_zero_point, params.dtype));
    }
  }
  return narrowed(params.dtype, params.shape, y);
}

std::vector<Tensor> qlinear_global_average_pool_reference(const Node& node,
                                                          std::span<const Tensor* const> inputs) {
  return {global_average(params_of<QLinearGlobalAveragePool>(node), *inputs[0])};
}

}  // namespace etch
