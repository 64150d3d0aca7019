// See antialias.h.
#include "compiler/ir/geometry/antialias.h"

#include <algorithm>
#include <cmath>

namespace etch {

namespace {

float linear_filter(float x) {
  x = std::fabs(x);
  return x < 1.0F ? 1.0F - x : 0.0F;
}

float cubic_filter(float x, float a) {
  x = std::fabs(x);
  if (x < 1.0F) return ((a + 2.0F) * x - (a + 3.0F)) * x * x + 1.0F;
  return x < 2.0F ? (((x - 5.0F) * x + 8.0F) * x - 4.0F) * a : 0.0F;
}

// Positions [begin, end), which may reach over the borders of the input.
struct Window {
  float center = 0;     // of the filter, where position i is at i + 0.5
  float narrowing = 1;  // what distances are multiplied by
  std::int64_t begin = 0, end = 0;
};

Window window_of(const Resize& params, const ResizeAxis& along, float position) {
  const float radius = params.mode == Resize::Mode::kCubic ? 2.0F : 1.0F;
  const float ratio = 1.0F / along.scale;
  const bool shrinks = ratio >= 1.0F;
  const float support = shrinks ? radius * ratio : radius;
  // Farther than this there is nothing of the input, and integers end.
  const float least = -4.0F * support, most = static_cast<float>(along.in) + 4.0F * support;
  Window out;
  out.center = 0.5F + (position > least ? std::min(position, most) : least);
  out.narrowing = shrinks ? 1.0F / ratio : 1.0F;
  out.begin = static_cast<std::int64_t>(std::floor(out.center - support + 0.5F));
  out.end = static_cast<std::int64_t>(std::floor(out.center + support + 0.5F));
  return out;
}

// The weights of what is outside of the input, added to those of the borders: [first, last) remain.
void fold_borders(std::vector<float>& weights, std::int64_t first, std::int64_t last) {
  const auto begin = weights.begin() + first, end = weights.begin() + last;
  for (auto each = weights.begin(); each != begin; ++each) *begin += *each;
  for (auto each = end; each != weights.end(); ++each) *(end - 1) += *each;
  weights.erase(end, weights.end());
  weights.erase(weights.begin(), weights.begin() + first);
}

}  // namespace

FilterTaps filter_taps(const Resize& params, std::size_t axis, std::int64_t at) {
  const ResizeAxis& along = params.axes[axis];
  const float position = position_of(along, at);
  FilterTaps out;
  out.outside = is_outside(params, along, position);
  if (out.outside) return out;
  const Window window = window_of(params, along, position);
  out.first = std::max<std::int64_t>(window.begin, 0);
  const std::int64_t last = std::min(window.end, along.in);
  if (last <= out.first) return {};
  const bool cut = params.exclude_outside;
  const std::int64_t begin = cut ? out.first : window.begin, end = cut ? last : window.end;
  float total = 0;
  for (std::int64_t x = begin; x < end; ++x) {
    const float distance = (static_cast<float>(x) - window.center + 0.5F) * window.narrowing;
    const bool cubic = params.mode == Resize::Mode::kCubic;
    out.weights.push_back(cubic ? cubic_filter(distance, params.cubic_a) : linear_filter(distance));
    total += out.weights.back();
  }
  fold_borders(out.weights, out.first - begin, last - begin);
  const float share = total == 0.0F ? 1.0F : 1.0F / total;
  for (float& weight : out.weights) weight *= share;
  return out;
}

std::int32_t filter_parts(float weight) {
  return static_cast<std::int32_t>(std::round(weight * static_cast<float>(1 << kFilterBits)));
}

bool fits_sums_of_bytes(const FilterTaps& taps) {
  constexpr double kMost = 510;  // of 512, half of a part and the rounding of parts left
  double total = 0;
  for (const float weight : taps.weights) total += std::fabs(static_cast<double>(weight));
  return total * 255 <= kMost;  // false of NaN
}

}  // namespace etch
