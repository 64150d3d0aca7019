// Where each output position of Resize takes its value from; see op.h.
#include "compiler/ir/geometry/resize.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiler/base/check.h"

namespace etch {

namespace {
constexpr std::int32_t kOne = 1024;  // of fixed point

// A position far outside does not fit the integer; the limits are those of any axis.
std::int64_t whole(float position) {
  constexpr float kFar = 1e18F;
  if (std::isnan(position)) return 0;
  return static_cast<std::int64_t>(std::clamp(position, -kFar, kFar));
}

std::int64_t rounded(float p, Resize::Round how, bool down) {
  switch (how) {
    case Resize::Round::kPreferFloor:
      return p == static_cast<float>(whole(p)) + 0.5F ? whole(std::floor(p)) : whole(std::round(p));
    case Resize::Round::kPreferCeil:
      return whole(std::round(p));
    case Resize::Round::kFloor:
      return whole(std::floor(p));
    case Resize::Round::kCeil:
      return whole(std::ceil(p));
    case Resize::Round::kSimple:
      return down ? whole(std::ceil(p)) : whole(p);
  }
  ETCH_CHECK(false);
}
}  // namespace

float position_of(const ResizeAxis& axis, std::int64_t at) {
  return axis.position.empty() ? static_cast<float>(at)
                               : axis.position[static_cast<std::size_t>(at)];
}

bool is_outside(const Resize& params, const ResizeAxis& axis, float position) {
  return params.extrapolate && (position < 0.0F || position > static_cast<float>(axis.in - 1));
}

std::int64_t nearest_sample(const Resize& params, std::size_t axis, std::int64_t at) {
  const ResizeAxis& along = params.axes[axis];
  if (along.position.empty()) return at;
  const float position = along.position[static_cast<std::size_t>(at)];
  if (is_outside(params, along, position)) return -1;
  return std::clamp<std::int64_t>(rounded(position, params.round, along.scale < 1.0F), 0,
                                  along.in - 1);
}

namespace {
// What neighbours -1, 0, 1 and 2 of a point count that is `s` after neighbour 0.
std::array<float, 4> cubic_weights(float s, float a) {
  const auto far = [&](float distance) {
    return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a;
  };
  const auto near = [&](float distance) {
    return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
  };
  return {far(s + 1), near(s), near(1 - s), far(2 - s)};
}
}  // namespace

CubicSample cubic_sample(const Resize& params, std::size_t axis, std::int64_t at) {
  const ResizeAxis& along = params.axes[axis];
  const float position = position_of(along, at);
  CubicSample out;
  out.outside = is_outside(params, along, position);
  const float floor = std::floor(position);
  out.weight = cubic_weights(std::fabs(position - floor), params.cubic_a);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t neighbour = whole(floor) - 1 + static_cast<std::int64_t>(i);
    out.at[i] = std::clamp<std::int64_t>(neighbour, 0, along.in - 1);
    if (params.exclude_outside && out.at[i] != neighbour) out.weight[i] = 0;
  }
  if (params.exclude_outside) {
    out.total = 0;
    for (const float weight : out.weight) out.total += weight;
  }
  return out;
}

LinearSample linear_sample(const Resize& params, std::size_t axis, std::int64_t at) {
  const ResizeAxis& along = params.axes[axis];
  const float position = position_of(along, at);
  LinearSample out;
  out.outside = is_outside(params, along, position);
  const float p = std::max(0.0F, std::min(position, static_cast<float>(along.in - 1)));
  out.low = std::min(whole(p), along.in - 1);
  out.high = std::min(out.low + 1, along.in - 1);
  if (out.low == out.high) {
    out.low_weight = out.high_weight = 0.5F;
    out.low_parts = out.high_parts = kOne / 2;
    return out;
  }
  // The nearer neighbour counts more: by the distance to the other one.
  out.high_weight = std::fabs(p - static_cast<float>(out.low));
  out.low_weight = std::fabs(p - static_cast<float>(out.high));
  const auto parts = static_cast<std::int64_t>(p * static_cast<float>(kOne));
  out.high_parts = static_cast<std::int32_t>(std::abs(parts - out.low * kOne));
  out.low_parts = static_cast<std::int32_t>(std::abs(parts - out.high * kOne));
  return out;
}

}  // namespace etch
