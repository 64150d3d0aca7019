// QLinearConv16 by its definition; see op.h.
#include <algorithm>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/conv_geometry/walk.h"
#include "compiler/ops/qlinear_conv16/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::int64_t scaled_sum(std::int64_t sum, const WideScale& scale, std::int32_t added) {
  constexpr std::int64_t kLow = std::int64_t{1} << 31;
  std::int64_t high = sum * (scale.factor / kLow), low = sum * (scale.factor % kLow);
  high += low >= 0 ? low / kLow : -((-low + kLow - 1) / kLow);
  low = ((low % kLow) + kLow) % kLow;
  high += added;
  const std::int64_t unit = std::int64_t{1} << scale.shift();
  std::int64_t quotient = high / unit, rest = high % unit;
  if (rest < 0) {
    rest += unit;
    --quotient;
  }
  const std::int64_t half = unit / 2;
  const bool above = rest > half || (rest == half && low > 0);
  const bool tie = rest == half && low == 0;
  return quotient + (above || (tie && quotient % 2 != 0) ? 1 : 0);
}

std::vector<Tensor> reference_qlinear_conv16(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  const auto& p = params_of<QLinearConv16>(node);
  const std::vector<std::int32_t> x = widened(*inputs[0]), w = widened(*inputs[3]);
  const Tensor* const bias = inputs.size() > 8 ? inputs[8] : nullptr;
  std::vector<std::int32_t> y(as_index(element_count(p.geometry.output_shape())));
  ConvWalk(p.geometry)
      .run<std::int64_t>(
          [&](std::int64_t xi, std::int64_t wi, std::int64_t m) {
            return std::int64_t{x[as_index(xi)] - p.x.zero_point_at(0)} *
                   (w[as_index(wi)] - p.w.zero_point_at(m));
          },
          [&](std::int64_t yi, std::int64_t m, std::int64_t sum) {
            const std::int64_t all = std::clamp<std::int64_t>(
                sum + (bias == nullptr ? 0 : bias->integer(m)), INT32_MIN, INT32_MAX);
            const WideScale scale = wide_scale(p.x.scale_at(0), p.w.scale_at(m), p.y.scale_at(0));
            const std::int32_t rest = p.rests.empty() ? 0 : scale.rest(p.rests[as_index(m)]);
            const std::int64_t q = scaled_sum(all, scale, rest) + p.y.zero_point_at(0);
            y[as_index(yi)] = static_cast<std::int32_t>(std::clamp<std::int64_t>(q, p.low, p.high));
          });
  return {narrowed(inputs[7]->dtype(), p.shape, y)};
}

}  // namespace etch
