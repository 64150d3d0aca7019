// AveragePool by plain loops; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/average_pool/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pool_geometry/walk.h"

namespace etch {

std::vector<Tensor> average_pool_reference(const Node& node,
                                           std::span<const Tensor* const> inputs) {
  const auto& params = params_of<AveragePool>(node);
  Tensor y(DType::kF32, params.geometry.output_shape());
  const auto from = inputs[0]->as<float>();
  for_each_window(params.geometry, [&](const PoolWindow& window) {
    float sum = 0.0F;
    for (const std::int64_t tap : window.taps) sum += from[as_index(tap)];
    const bool counted = params.count_padding == CountPadding::kYes;
    const auto taps = static_cast<std::int64_t>(window.taps.size());
    const std::int64_t count = counted ? window.padded_taps : taps;
    y.as<float>()[as_index(window.y)] = count == 0 ? 0.0F : sum / static_cast<float>(count);
  });
  return {y};
}

}  // namespace etch
