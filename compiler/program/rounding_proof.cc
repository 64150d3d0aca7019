// Each function repeats its kernel with intervals for elements; see rounding_proof.h.
#include "compiler/program/rounding_proof.h"

#include <algorithm>
#include <limits>

#include "compiler/base/float_interval.h"

namespace etch {

namespace {
constexpr int kMostByte = 255;

// byte - zero for any byte; both ends are exact as floats.
FloatInterval less(int zero) {
  return {static_cast<float>(-zero), static_cast<float>(kMostByte - zero)};
}

FloatInterval only(float value) { return {value, value}; }
}  // namespace

bool may_leave_int32(const SumFactors& f) {
  const FloatInterval inner = fused(less(f.b_stored), f.ratio_b, only(f.fixed));
  return !fits_int32(fused(less(f.a_stored), f.ratio_a, inner));
}

bool may_leave_int32(const PoolPlan& plan) {
  int taps = 0;
  float divisor = std::numeric_limits<float>::infinity();
  for (const PoolRegion& region : plan.regions) {
    taps = std::max(taps, region.taps());
    divisor = std::min(divisor, region.divisor);
  }
  if (divisor < 1) return true;  // windows of padding only: 0 / 0
  const FloatInterval term = product(less(plan.x_zero_point), plan.x_scale);
  FloatInterval total;  // holds 0, and grows with every term: also of windows with fewer
  for (int t = 0; t < taps; ++t)
    total = {total.low + std::min(term.low, 0.0F), total.high + std::max(term.high, 0.0F)};
  const FloatInterval scaled = quotient(quotient(total, divisor), plan.y_scale);
  return !fits_int32(sum(scaled, only(plan.y_zero)));
}

bool may_leave_int32(std::int64_t least, std::int64_t most, float scale) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const bool wraps = least < kLeast || most > kMost;
  const FloatInterval acc{static_cast<float>(wraps ? kLeast : least),
                          static_cast<float>(wraps ? kMost : most)};
  return !fits_int32(product(acc, scale));
}

}  // namespace etch
