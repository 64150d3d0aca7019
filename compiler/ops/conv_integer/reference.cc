// ConvInteger by its definition; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/conv_geometry/walk.h"
#include "compiler/ops/conv_integer/op.h"
#include "compiler/ops/quantization.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_conv_integer(const Node& node,
                                           std::span<const Tensor* const> inputs) {
  const ConvGeometry& geometry = params_of<ConvIntegerParams>(node).geometry;
  const std::vector<std::int32_t> x = widened(*inputs[0]);
  const std::vector<std::int32_t> w = widened(*inputs[1]);
  const std::vector<int> x_zero = zero_points_of(inputs.size() > 2 ? inputs[2] : nullptr);
  const std::vector<int> w_zero = zero_points_of(inputs.size() > 3 ? inputs[3] : nullptr);
  Tensor y(DType::kS32, geometry.output_shape());
  const auto out = y.as<std::int32_t>();
  ConvWalk(geometry).run<std::int64_t>(
      [&](std::int64_t xi, std::int64_t wi, std::int64_t m) {
        const int zero = w_zero[as_index(m) % w_zero.size()];
        return std::int64_t{x[as_index(xi)] - x_zero[0]} * (w[as_index(wi)] - zero);
      },
      [&](std::int64_t yi, std::int64_t, std::int64_t sum) {
        out[as_index(yi)] = wrap_to_int32(sum);
      });
  return {y};
}

}  // namespace etch
