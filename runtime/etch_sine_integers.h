// Sine and cosine in integers, for cores where each step in double is a call: the float of
// sine_f32() of etch_trigonometry.h, or none. The result is so near the sine that it rounds to the
// same float unless it is next to the middle between two: then there is none, which happens for
// 3 of 100. That both agree was checked for every float of the range, 419,430,400 of sine and as
// many of cosine; runtime/etch_trigonometry_test.cc has a part of them. C++17, freestanding, no
// heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

namespace etch {
namespace rt {

// How near the middle is too near, in 256ths of a result's last place: twice what would do.
constexpr uint32_t kSineMargin = 4, kCosineMargin = 3;

static inline uint32_t high_product(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((uint64_t{a} * b) >> 32);
}

// c[k] - c[k + 1] u + c[k + 2] u^2 ...: the coefficients times 2^31, u times 2^32. Recursive, so
// that no loop reads the coefficients from the stack.
template <size_t k, size_t count>
ETCH_INLINE uint32_t alternating(const uint32_t (&c)[count], uint32_t u) {
  if constexpr (k + 1 == count) {
    return c[k];
  } else {
    return c[k] - high_product(alternating<k + 1>(c, u), u);
  }
}

// The float nearest value * 2^(power - 32), where the bit 2^31 of the value is set; false where
// one that is less than `margin` away could be another one.
static inline bool round_to_float(uint32_t value, int32_t power, uint32_t margin, uint32_t sign,
                                  float* y) {
  if ((value & 0xffu) - (0x80u - margin) < 2u * margin) return false;
  const uint32_t exponent = static_cast<uint32_t>(power + 125) << 23;  // the value adds one
  *y = bits_float(sign | (exponent + (value >> 8) + ((value >> 7) & 1u)));
  return true;
}

// sin(size pi / 2), of which the size is times 2^62, and u its square times 2^32.
static inline bool round_sine(uint64_t size, uint32_t u, uint32_t sign, float* y) {
  constexpr uint32_t kSine[6] = {0xc90fdaa2u, 0x52aef399u, 0x0a335e34u,
                                 0x00996963u, 0x000541c7u, 0x00001dd5u};
  int32_t power = 2;
#if defined(__GNUC__) && defined(__ARM_FEATURE_CLZ)
  const int zeros = __builtin_clzll(size);
  size <<= zeros;
  power -= zeros;
#else
  for (; (size >> 63) == 0u; size <<= 1) --power;
#endif
  const uint64_t sine = (size >> 32) * alternating<0>(kSine, u);
  const bool is_large = (sine >> 63) != 0u;
  const auto value = static_cast<uint32_t>(sine >> (is_large ? 32 : 31));
  return round_to_float(value, is_large ? power + 1 : power, kSineMargin, sign, y);
}

// cos(r pi / 2), with u = r^2 times 2^32.
static inline bool round_cosine(uint32_t u, uint32_t sign, float* y) {
  constexpr uint32_t kCosine[6] = {0x9de9e64eu, 0x20783e10u, 0x02aba790u, 0x001e1f50u,
                                   0x0000d366u, 0x000003e9u};  // (1 - cos(r pi / 2)) / u
  const auto fall = static_cast<uint32_t>((uint64_t{alternating<0>(kCosine, u)} * u) >> 31);
  return round_to_float(~fall, 0, kCosineMargin, sign, y);  // 1 - fall, and 1 less in 2^32
}

// sin(x + ahead pi / 2) of 2^-12 <= |x| < 2^13; false where it is not known.
static inline bool sine_in_integers(float x, uint32_t ahead, float* y) {
  const uint32_t bits = float_bits(x);
  const uint32_t exponent = (bits >> 23) & 0xffu;
  if (exponent - 115u >= 25u) return false;
  const uint64_t significand = (bits & 0x7fffffu) | 0x800000u;
  // Of |x| 2 / pi the quarters of a turn, times 2^62: 2^64 are four of them.
  const uint64_t product = significand * 0xa2f9836eu + ((significand * 0x4e441529u) >> 32);
  uint64_t turns = exponent < 120u ? product >> (120u - exponent) : product << (exponent - 120u);
  if ((bits >> 31) != 0u) turns = 0u - turns;
  const uint32_t nearest = ((static_cast<uint32_t>(turns >> 61) + 1u) >> 1) & 3u;
  const uint64_t rest = turns - (uint64_t{nearest} << 62);
  const bool is_below = (rest >> 63) != 0u;
  const uint64_t size = is_below ? 0u - rest : rest;
  const auto r = static_cast<uint32_t>(size >> 30);
  const uint32_t u = high_product(r, r), quarter = nearest + ahead;
  uint32_t sign = (quarter & 2u) << 30;
  if ((quarter & 1u) != 0u) return round_cosine(u, sign, y);
  // Next to a multiple of pi / 2 the difference has too few bits.
  if (exponent >= 127u && (size >> 52) == 0u) return false;
  if (is_below) sign ^= 0x80000000u;
  return round_sine(size, u, sign, y);
}

}  // namespace rt
}  // namespace etch
