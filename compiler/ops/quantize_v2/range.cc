// Line by line from docs/spec/quantize_v2.md; see range.h. Everything is float32 but where it says
// double. Results that can be subnormal are flushed.
#include "compiler/ops/quantize_v2/range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace etch {

namespace {

struct TypeName {
  DType type;
  std::string_view name;
  std::int64_t onnx_number;
};
constexpr TypeName kTypes[] = {{DType::kS8, "qint8", 3},
                               {DType::kU8, "quint8", 2},
                               {DType::kS16, "qint16", 5},
                               {DType::kU16, "quint16", 4},
                               {DType::kS32, "qint32", 6}};
constexpr RangeMode kModes[] = {RangeMode::kMinCombined, RangeMode::kMinFirst, RangeMode::kScaled};

// 255 for 8 bits: the number of steps between the least and the greatest value.
double steps_of(DType type) {
  return static_cast<double>(max_of(type)) - static_cast<double>(min_of(type));
}

void use_min_combined(QuantizeV2Range& range, DType type) {
  const auto width = static_cast<double>(flushed(range.high - range.low));
  range.scale = flushed(static_cast<float>(steps_of(type) / width));
}

void use_min_first(QuantizeV2Range& range, DType type) {
  const auto width = static_cast<double>(flushed(range.high - range.low));
  range.scale =
      range.high == range.low ? 0.0F : flushed(static_cast<float>(steps_of(type) / width));
  range.rounded_low = std::round(range.low * range.scale);
}

void use_scaled(QuantizeV2Range& range, const QuantizeV2Rule& rule) {
  constexpr float kNone = std::numeric_limits<float>::max();
  const auto least = static_cast<float>(least_of(rule));
  const auto most = static_cast<float>(max_of(rule.type));
  const float below = least * range.low > 0 ? flushed(least / range.low) : kNone;
  const float above = most * range.high > 0 ? flushed(most / range.high) : kNone;
  range.scale = std::min(below, above);
  range.low = flushed(least / range.scale);
  range.high = flushed(most / range.scale);
}

}  // namespace

std::string_view name_of(RangeMode mode) {
  switch (mode) {
    case RangeMode::kMinCombined:
      return "MIN_COMBINED";
    case RangeMode::kMinFirst:
      return "MIN_FIRST";
    case RangeMode::kScaled:
      break;
  }
  return "SCALED";
}

std::optional<RangeMode> range_mode(std::string_view name) {
  for (const RangeMode mode : kModes) {
    if (name_of(mode) == name) return mode;
  }
  return std::nullopt;
}

std::string_view tensorflow_name(DType type) {
  for (const TypeName& each : kTypes) {
    if (each.type == type) return each.name;
  }
  return "";
}

std::optional<DType> tensorflow_type(std::string_view name) {
  for (const TypeName& each : kTypes) {
    if (each.name == name) return each.type;
  }
  return std::nullopt;
}

std::optional<DType> tensorflow_type(std::int64_t onnx_number) {
  for (const TypeName& each : kTypes) {
    if (each.onnx_number == onnx_number) return each.type;
  }
  return std::nullopt;
}

float flushed(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0F, v) : v; }

std::int64_t least_of(const QuantizeV2Rule& rule) {
  const bool narrow = rule.narrow_range && rule.mode == RangeMode::kScaled;
  return min_of(rule.type) + (narrow ? 1 : 0);
}

QuantizeV2Range quantize_v2_range(float min, float max, const QuantizeV2Rule& rule) {
  min = flushed(min);
  max = flushed(max);
  QuantizeV2Range range;
  range.low = std::min(0.0F, min);
  // From the range as given, before it was made to include 0; only the upper end moves.
  const float size = std::max({1.0F, std::fabs(min), std::fabs(max)});
  const float epsilon = flushed(size * flushed(rule.ensure_minimum_range));
  range.high = std::max({0.0F, max, flushed(range.low + epsilon)});
  if (rule.mode == RangeMode::kMinCombined) use_min_combined(range, rule.type);
  if (rule.mode == RangeMode::kMinFirst) use_min_first(range, rule.type);
  if (rule.mode == RangeMode::kScaled) use_scaled(range, rule);
  return range;
}

bool is_usable(const QuantizeV2Range& range) {
  return std::isfinite(range.low) && std::isfinite(range.high) && std::isfinite(range.scale) &&
         std::isfinite(range.high - range.low);
}

}  // namespace etch
