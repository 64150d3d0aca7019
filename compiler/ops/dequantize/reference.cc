// Dequantize by its definition; see op.h. All of it is float32 except one quotient of MIN_FIRST;
// subnormal results are flushed as in QuantizeV2.
#include <algorithm>
#include <cmath>

#include "compiler/ops/dequantize/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

float min_combined(float q, float min, float max, DType type) {
  const auto least = static_cast<float>(min_of(type));
  const auto most = static_cast<float>(max_of(type));
  const float half = is_signed(type) ? (most - least + 1) / 2 : 0.0F;
  const float scale = flushed(flushed(max - min) / (most - least));
  return flushed(flushed((q + half) * scale) + min);
}

float min_first(float q, float min, float max, DType type) {
  const double steps = static_cast<double>(max_of(type) - min_of(type));
  const auto scale = flushed(static_cast<float>(static_cast<double>(flushed(max - min)) / steps));
  const float rounded_min = max == min ? min : flushed(std::round(min / scale) * scale);
  const float zero = flushed(rounded_min - flushed(static_cast<float>(min_of(type)) * scale));
  return flushed(zero + flushed(q * scale));
}

float scaled(float q, float min, float max, const DequantizeParams& params) {
  const std::int64_t least = min_of(params.type) + (params.narrow_range ? 1 : 0);
  const float above = flushed(max / static_cast<float>(max_of(params.type)));
  if (min_of(params.type) == 0) return flushed(q * above);
  return flushed(q * std::max(flushed(min / static_cast<float>(least)), above));
}

float dequantized(float q, float min, float max, const DequantizeParams& params) {
  switch (params.mode) {
    case RangeMode::kMinCombined:
      return min_combined(q, min, max, params.type);
    case RangeMode::kMinFirst:
      return min_first(q, min, max, params.type);
    case RangeMode::kScaled:
      break;
  }
  return scaled(q, min, max, params);
}

}  // namespace

std::vector<Tensor> reference_dequantize(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<DequantizeParams>(node);
  const auto min = inputs[1]->as<float>();
  const auto max = inputs[2]->as<float>();
  Tensor out(DType::kF32, inputs[0]->shape());
  const auto y = out.as<float>();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto element = static_cast<std::int64_t>(i);
    const auto slice = static_cast<std::size_t>(params.slices.slice_of(element));
    y[i] = dequantized(static_cast<float>(inputs[0]->integer(element)), flushed(min[slice]),
                       flushed(max[slice]), params);
  }
  return {std::move(out)};
}

}  // namespace etch
