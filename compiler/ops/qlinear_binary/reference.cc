// QLinearAdd and QLinearMul by plain loops; see op.h.
#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

QLinearBinaryFunction::QLinearBinaryFunction(const QLinearBinary& params) : params_(params) {
  const ScalarQuantization& a = params.swapped ? params.b : params.a;
  const ScalarQuantization& b = params.swapped ? params.a : params.b;
  ratio_a_ = a.scale / params.c.scale;
  ratio_b_ = b.scale / params.c.scale;
  const float zero_b = ratio_b_ * static_cast<float>(b.zero_point);
  const float zeros = std::fma(ratio_a_, static_cast<float>(a.zero_point), zero_b);
  offset_ = static_cast<float>(params.c.zero_point) - zeros;
  const float product = params.a.scale * params.b.scale;
  scale_ = product / params.c.scale;
}

std::int32_t QLinearBinaryFunction::operator()(std::int32_t a, std::int32_t b) const {
  return std::clamp(unlimited(a, b), params_.low, params_.high);
}

std::int32_t QLinearBinaryFunction::unlimited(std::int32_t a, std::int32_t b) const {
  if (params_.kind == QLinearBinary::Kind::kMul) {
    const std::int32_t product = (a - params_.a.zero_point) * (b - params_.b.zero_point);
    const float scaled = static_cast<float>(product) * scale_;
    return saturated_round(scaled + static_cast<float>(params_.c.zero_point), params_.dtype);
  }
  if (params_.swapped) std::swap(a, b);
  const float inner = std::fma(static_cast<float>(b), ratio_b_, offset_);
  return round_and_saturate(std::fma(static_cast<float>(a), ratio_a_, inner), 0, params_.dtype);
}

namespace {
ScalarQuantization first_of(const Tensor& scale, const Tensor* zero_point) {
  const Quantization q = quantization_of(scale, zero_point);
  return {q.scale[0], q.zero_point[0]};
}
}  // namespace

std::vector<Tensor> qlinear_binary_reference(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  auto params = params_of<QLinearBinary>(node);
  if (params.at_run_time) {
    params.a = first_of(*inputs[1], inputs[2]);
    params.b = first_of(*inputs[4], inputs[5]);
    params.c = first_of(*inputs[6], inputs.size() > 7 ? inputs[7] : nullptr);
  }
  const QLinearBinaryFunction function(params);
  const std::vector<std::int32_t> a = widened(*inputs[0]);
  const std::vector<std::int32_t> b = widened(*inputs[3]);
  std::vector<std::int32_t> c;
  for_each<2>(params.shape, {&params.a_view, &params.b_view},
              [&](const std::array<std::int64_t, 2>& at) {
                c.push_back(function(a[as_index(at[0])], b[as_index(at[1])]));
              });
  return {narrowed(params.dtype, params.shape, c)};
}

}  // namespace etch
