// Ratios of scales; see word_ratio.h.
#include "compiler/ops/word_ratio.h"

#include <algorithm>
#include <cmath>

namespace etch {

OddScale odd_scale(float scale) {
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);
  OddScale out{static_cast<std::int64_t>(std::ldexp(fraction, 24)), exponent - 24};
  for (; out.odd % 2 == 0; out.odd /= 2) ++out.exponent;
  return out;
}

std::optional<ExactRatios> exact_ratios(std::span<const float> x, float y) {
  const OddScale divisor = odd_scale(y);
  int least = divisor.exponent;
  for (const float each : x) least = std::min(least, odd_scale(each).exponent);
  const int below = divisor.exponent - least;
  if (below > 61 || divisor.odd > std::int64_t{1} << (61 - below)) return std::nullopt;
  ExactRatios out;
  out.unit = static_cast<std::uint64_t>(divisor.odd) << below;
  for (const float each : x) {
    const OddScale scale = odd_scale(each);
    const int up = scale.exponent - least;
    out.parts.push_back(up > 63 ? 0 : static_cast<std::uint64_t>(scale.odd) << up);
  }
  return out;
}

std::int32_t rounded_ratio(double ratio, int bits) {
  return static_cast<std::int32_t>(std::llround(std::ldexp(ratio, bits)));
}

int bits_of_ratios(std::span<const double> ratios, int most) {
  const double largest = *std::max_element(ratios.begin(), ratios.end());
  int bits = most;
  while (std::ldexp(largest, bits) > 0x1p30) --bits;
  return bits;
}

}  // namespace etch
