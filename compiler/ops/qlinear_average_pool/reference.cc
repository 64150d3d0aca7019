// QLinearAveragePool by plain loops; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pool_geometry/walk.h"
#include "compiler/ops/qlinear_average_pool/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> qlinear_average_pool_reference(const Node& node,
                                                   std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QLinearAveragePool>(node);
  if (params.global) return {global_average(*params.global, *inputs[0])};
  const std::vector<std::int32_t> from = widened(*inputs[0]);
  const Shape shape = params.geometry.output_shape();
  std::vector<std::int32_t> y(as_index(element_count(shape)));
  for_each_window(params.geometry, [&](const PoolWindow& window) {
    float sum = 0.0F;
    for (const std::int64_t tap : window.taps) sum += dequantized(from[as_index(tap)], params.x);
    const bool counted = params.count_padding == CountPadding::kYes;
    const auto taps = static_cast<std::int64_t>(window.taps.size());
    const float mean = sum / static_cast<float>(counted ? window.kernel_taps : taps);
    const float scaled = mean / params.y.scale;
    y[as_index(window.y)] =
        round_and_saturate(scaled + static_cast<float>(params.y.zero_point), 0, params.dtype);
  });
  return {narrowed(params.dtype, shape, y)};
}

}  // namespace etch
