// Interval ends through one float operation each; see float_interval.h.
#include "compiler/base/float_interval.h"

#include <cmath>

namespace etch {

FloatInterval sum(const FloatInterval& a, const FloatInterval& b) {
  return {a.low + b.low, a.high + b.high};
}

FloatInterval product(const FloatInterval& x, float factor) {
  const float low = x.low * factor, high = x.high * factor;
  return factor < 0 ? FloatInterval{high, low} : FloatInterval{low, high};
}

FloatInterval quotient(const FloatInterval& x, float divisor) {
  return {x.low / divisor, x.high / divisor};
}

FloatInterval fused(const FloatInterval& x, float factor, const FloatInterval& addend) {
  const float at_low = factor < 0 ? x.high : x.low;
  const float at_high = factor < 0 ? x.low : x.high;
  return {std::fma(at_low, factor, addend.low), std::fma(at_high, factor, addend.high)};
}

bool is_finite(const FloatInterval& x) { return std::isfinite(x.low) && std::isfinite(x.high); }

bool fits_int32(const FloatInterval& x) {
  constexpr float kTwoTo31 = 2147483648.0F;
  return x.low > -kTwoTo31 && x.high < kTwoTo31;  // false for NaN
}

}  // namespace etch
