// TensorFlow's QuantizeV2 and Dequantize for types and ranges that have no kernel of their own: 16
// and 32 bits, and ranges that are known at run time only. C++17, freestanding, no libm, no state.
// Arithmetic: docs/spec/quantize_v2.md. It is float32 in the order written there; a product goes
// through opaque() before something is added to it. Subnormal numbers count as 0, as TensorFlow
// runs its kernels. Whatever the numbers, results are defined: NaN gives the least value, and what
// exceeds the type saturates.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_float.h"

namespace etch {
namespace rt {

constexpr int32_t kMinCombined = 0;
constexpr int32_t kMinFirst = 1;
constexpr int32_t kScaled = 2;

// What is the same for all ranges of a quantization. An int8 that is kept as uint8 has the least
// value -128 and is stored with 128 added.
struct QuantizeRule {
  int32_t mode;       // one of the three above
  int32_t half_even;  // round ties to even instead of away from zero; SCALED only
  int32_t least;      // quantized value; with narrow range one more than the type's
  int32_t most;
};

struct QuantizeRange {
  float low, high, scale, rounded_low;
};

// `v`, or 0 of its sign when it is subnormal.
static inline float flushed(float v) {
  const uint32_t bits = float_bits(v);
  return (bits & 0x7f800000u) == 0u ? bits_float(bits & 0x80000000u) : v;
}

// Nearest float integer, ties away from zero. NaN and infinities stay.
static inline float round_away_f32(float v) {
  const bool has_fraction = v < 8388608.0f && v > -8388608.0f;
  return has_fraction ? static_cast<float>(round_away(v)) : v;
}

// To the type; `v` is a whole number. NaN, which compares false, gives `least`.
static inline int32_t saturate(float v, int32_t least, int32_t most) {
  if (!(v > static_cast<float>(least))) return least;
  if (v >= static_cast<float>(most)) return most;
  return static_cast<int32_t>(v);
}

static inline float clamp_to_range(float v, float low, float high) {
  const float above = v > low ? v : low;
  return above < high ? above : high;
}

// qmax - qmin of the type: 255, 65535 or 2^32 - 1, whether the range is narrow or not.
static inline double quantize_steps(int32_t most) {
  if (most == INT32_MAX) return 4294967295.0;
  return most > 255 ? 65535.0 : 255.0;
}

static inline QuantizeRange quantize_range(float min, float max, const QuantizeRule& rule,
                                           float ensure_minimum_range) {
  min = flushed(min);
  max = flushed(max);
  QuantizeRange range = {min < 0.0f ? min : 0.0f, 0.0f, 0.0f, 0.0f};
  const float min_size = min < 0.0f ? -min : min;
  const float max_size = max < 0.0f ? -max : max;
  float size = 1.0f < min_size ? min_size : 1.0f;
  size = size < max_size ? max_size : size;
  const float widened = flushed(range.low + flushed(opaque(size * flushed(ensure_minimum_range))));
  range.high = 0.0f < max ? max : 0.0f;
  range.high = range.high < widened ? widened : range.high;
  if (rule.mode == kScaled) {
    const float least = static_cast<float>(rule.least);
    const float most = static_cast<float>(rule.most);
    const float below = least * range.low > 0.0f ? flushed(least / range.low) : 0x1.fffffep+127f;
    const float above = most * range.high > 0.0f ? flushed(most / range.high) : 0x1.fffffep+127f;
    range.scale = above < below ? above : below;
    range.low = flushed(least / range.scale);
    range.high = flushed(most / range.scale);
    return range;
  }
  const double width = static_cast<double>(flushed(range.high - range.low));
  const double steps = quantize_steps(rule.most);
  range.scale = flushed(static_cast<float>(steps / width));
  if (rule.mode == kMinFirst) {
    if (range.high == range.low) range.scale = 0.0f;
    range.rounded_low = round_away_f32(range.low * range.scale);
  }
  return range;
}

static inline int32_t quantize_min_combined(float x, const QuantizeRange& range,
                                            const QuantizeRule& rule) {
  const float inside = clamp_to_range(x, range.low, range.high);
  const float t = opaque(flushed(inside - range.low) * range.scale);
  if (rule.least < 0) {
    const float half = static_cast<float>(rule.most) + 1.0f;
    return saturate(round_away_f32(t - half), rule.least, rule.most);
  }
  const float up = t + 0.5f;
  const bool small = up < 8388608.0f;  // larger ones are whole, and t is never negative
  return saturate(small ? static_cast<float>(static_cast<int32_t>(up)) : up, rule.least, rule.most);
}

static inline int32_t quantize_min_first(float x, const QuantizeRange& range,
                                         const QuantizeRule& rule) {
  const float least = static_cast<float>(rule.least);
  const float v = round_away_f32(opaque(x * range.scale)) - (range.rounded_low - least);
  // The greatest float that fits into an int32 is 2147483520.
  return saturate(v, rule.least, rule.most == INT32_MAX ? 2147483520 : rule.most);
}

static inline int32_t quantize_scaled(float x, const QuantizeRange& range,
                                      const QuantizeRule& rule) {
  const float v = opaque(clamp_to_range(x, range.low, range.high) * range.scale);
  const int32_t least = rule.least < 0 ? -rule.most - 1 : 0;  // of the type
  const bool has_fraction = v < 8388608.0f && v > -8388608.0f;
  if (!has_fraction) return saturate(v, least, rule.most);
  const int32_t whole = rule.half_even != 0 ? round_even(v) : round_away(v);
  if (whole < least) return least;
  return whole > rule.most ? rule.most : whole;
}

static inline int32_t quantize_by_range(float x, const QuantizeRange& range,
                                        const QuantizeRule& rule) {
  if (rule.mode == kMinCombined) return quantize_min_combined(x, range, rule);
  if (rule.mode == kMinFirst) return quantize_min_first(x, range, rule);
  return quantize_scaled(x, range, rule);
}

// y[i * y_step] = x[i * x_step] quantized by the range of min and max [i * range_step]; a
// range_step of 0 is one range for all. Out is uint8_t (also for int8, stored with 128 added),
// int16_t, uint16_t or int32_t.
template <class Out>
static inline void quantize_v2(const float* x, int x_step, const float* min, const float* max,
                               int range_step, Out* y, int y_step, int n, int mode, int half_even,
                               int least, int most, float ensure_minimum_range) {
  const QuantizeRule rule = {mode, half_even, least, most};
  const int32_t stored = sizeof(Out) == 1 && least < 0 ? 128 : 0;
  QuantizeRange range = quantize_range(*min, *max, rule, ensure_minimum_range);
  for (ptrdiff_t i = 0; i < n; ++i) {
    if (range_step != 0 && i > 0) {
      range = quantize_range(min[i * range_step], max[i * range_step], rule, ensure_minimum_range);
    }
    y[i * y_step] =
        static_cast<Out>(quantize_by_range(flushed(x[i * x_step]), range, rule) + stored);
  }
}

// output_min (end 0) or output_max (end 1) of `slices` ranges.
static inline void quantize_v2_end(const float* min, const float* max, float* out, int slices,
                                   int end, int mode, int least, int most,
                                   float ensure_minimum_range) {
  const QuantizeRule rule = {mode, 0, least, most};
  for (int i = 0; i < slices; ++i) {
    const QuantizeRange range = quantize_range(min[i], max[i], rule, ensure_minimum_range);
    out[i] = end == 0 ? range.low : range.high;
  }
}

// Factor and addends of Dequantize: (q + before) * scale + after.
struct DequantizeTerms {
  float before, scale, after;
};

static inline DequantizeTerms dequantize_terms(float min, float max, int mode, int least,
                                               int most) {
  min = flushed(min);
  max = flushed(max);
  const float most_f = static_cast<float>(most);
  const float least_f = static_cast<float>(least);
  if (mode == kScaled) {
    const float above = flushed(max / most_f);
    if (least >= 0) return {0.0f, above, 0.0f};
    const float below = flushed(min / least_f);
    return {0.0f, below < above ? above : below, 0.0f};
  }
  const float width = flushed(max - min);
  if (mode == kMinCombined) {
    return {least < 0 ? most_f + 1.0f : 0.0f, flushed(width / (most_f - least_f)), min};
  }
  const float scale =
      flushed(static_cast<float>(static_cast<double>(width) / quantize_steps(most)));
  const float steps = round_away_f32(min / scale);
  const float rounded = max == min ? min : flushed(opaque(steps * scale));
  return {0.0f, scale, flushed(rounded - flushed(opaque(least_f * scale)))};
}

// y[i * y_step] = x[i * x_step] dequantized by the range of min and max [i * range_step], see
// above. In as Out above; a byte means (byte ^ flip) - offset. With MIN_FIRST the addend comes
// first, which makes no difference to a sum.
template <class In>
static inline void dequantize_v2(const In* x, int x_step, const float* min, const float* max,
                                 int range_step, float* y, int y_step, int n, int flip, int offset,
                                 int mode, int least, int most) {
  DequantizeTerms terms = dequantize_terms(*min, *max, mode, least, most);
  for (ptrdiff_t i = 0; i < n; ++i) {
    if (range_step != 0 && i > 0) {
      terms = dequantize_terms(min[i * range_step], max[i * range_step], mode, least, most);
    }
    const int32_t q = (static_cast<int32_t>(x[i * x_step]) ^ flip) - offset;
    const float product = flushed(opaque((static_cast<float>(q) + terms.before) * terms.scale));
    y[i * y_step] = mode == kScaled ? product : flushed(product + terms.after);
  }
}

}  // namespace rt
}  // namespace etch
