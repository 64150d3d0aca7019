// QLinearConv, forward and transposed, by its definition; see op.h.
#include <algorithm>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/conv_geometry/walk.h"
#include "compiler/ops/qlinear_conv/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_qlinear_conv(const Node& node,
                                           std::span<const Tensor* const> inputs) {
  return {reference_qlinear_conv(params_of<QLinearConvParams>(node), inputs)};
}

Tensor reference_qlinear_conv(const QLinearConvParams& params,
                              std::span<const Tensor* const> inputs) {
  const ConvGeometry& geometry = params.geometry;
  const Quantization qx = quantization_of(*inputs[1], inputs[2]);
  const Quantization qw = quantization_of(*inputs[4], inputs[5]);
  const Quantization qy = quantization_of(*inputs[6], inputs[7]);
  const std::vector<float> scale = combined_scale(qx, qw, qy);
  const std::vector<std::int32_t> x = widened(*inputs[0]);
  const std::vector<std::int32_t> w = widened(*inputs[3]);
  const Tensor* bias = inputs.size() > 8 ? inputs[8] : nullptr;
  const DType type = inputs[7]->dtype();
  std::vector<std::int32_t> y(as_index(element_count(geometry.output_shape())));
  ConvWalk(geometry).run<std::int64_t>(
      [&](std::int64_t xi, std::int64_t wi, std::int64_t m) {
        const int x_term = x[as_index(xi)] - qx.zero_point[0];
        return std::int64_t{x_term} * (w[as_index(wi)] - qw.zero_point_at(m));
      },
      [&](std::int64_t yi, std::int64_t m, std::int64_t sum) {
        const std::int64_t b = bias == nullptr ? 0 : bias->integer(m);
        const std::int32_t q = requantize(wrap_to_int32(sum + b), scale[as_index(m) % scale.size()],
                                          qy.zero_point[0], type);
        y[as_index(yi)] = std::min(std::max(q, params.low), params.high);
      });
  return narrowed(type, geometry.output_shape(), y);
}

}  // namespace etch
