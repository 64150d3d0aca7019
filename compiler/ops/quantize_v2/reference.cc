// QuantizeV2 by its definition; see op.h.
#include <algorithm>
#include <cmath>

#include "compiler/ops/quantize_v2/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

// NaN, which compares false, becomes `low`.
float clamped(float x, float low, float high) {
  const float above = x > low ? x : low;
  return above < high ? above : high;
}

std::int32_t min_combined(float x, const QuantizeV2Range& range, DType type) {
  const float above_low = flushed(clamped(x, range.low, range.high) - range.low);
  const float t = above_low * range.scale;
  if (!is_signed(type)) return saturated(std::trunc(t + 0.5F), min_of(type), max_of(type));
  const float half = static_cast<float>(max_of(type) - min_of(type) + 1) / 2;  // powers of two
  return saturated(std::round(t - half), min_of(type), max_of(type));
}

std::int32_t min_first(float x, const QuantizeV2Range& range, DType type) {
  const auto least = static_cast<float>(min_of(type));
  const float v = std::round(x * range.scale) - (range.rounded_low - least);
  // The greatest float that fits into an int32 is 2147483520.
  const float most = std::min(static_cast<float>(max_of(type)), 2147483520.0F);
  return saturated(clamped(v, least, most), min_of(type), max_of(type));
}

std::int32_t scaled(float x, const QuantizeV2Range& range, const QuantizeV2Rule& rule) {
  const float v = clamped(x, range.low, range.high) * range.scale;
  const float whole = rule.half_to_even ? std::nearbyint(v) : std::round(v);
  return saturated(whole, min_of(rule.type), max_of(rule.type));
}

std::int32_t quantized(float x, const QuantizeV2Range& range, const QuantizeV2Rule& rule) {
  switch (rule.mode) {
    case RangeMode::kMinCombined:
      return min_combined(x, range, rule.type);
    case RangeMode::kMinFirst:
      return min_first(x, range, rule.type);
    case RangeMode::kScaled:
      break;
  }
  return scaled(x, range, rule);
}

Shape ends_shape(const QuantizeV2Params& params) {
  return params.slices.count == 1 ? Shape{} : Shape{params.slices.count};
}

}  // namespace

std::int32_t saturated(float v, std::int64_t least, std::int64_t most) {
  if (!(v > static_cast<float>(least))) return static_cast<std::int32_t>(least);
  if (v >= static_cast<float>(most)) return static_cast<std::int32_t>(most);
  return static_cast<std::int32_t>(v);
}

std::vector<Tensor> reference_quantize_v2(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QuantizeV2Params>(node);
  const auto min = inputs[1]->as<float>();
  const auto max = inputs[2]->as<float>();
  std::vector<QuantizeV2Range> ranges;
  std::vector<float> low;
  std::vector<float> high;
  for (std::size_t s = 0; s < static_cast<std::size_t>(params.slices.count); ++s) {
    ranges.push_back(quantize_v2_range(min[s], max[s], params.rule));
    low.push_back(ranges.back().low);
    high.push_back(ranges.back().high);
  }
  const auto x = inputs[0]->as<float>();
  std::vector<std::int32_t> y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto slice =
        static_cast<std::size_t>(params.slices.slice_of(static_cast<std::int64_t>(i)));
    y.push_back(quantized(flushed(x[i]), ranges[slice], params.rule));
  }
  return {narrowed(params.rule.type, inputs[0]->shape(), y),
          Tensor::of<float>(ends_shape(params), low), Tensor::of<float>(ends_shape(params), high)};
}

}  // namespace etch
