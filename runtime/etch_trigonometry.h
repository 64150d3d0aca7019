// Trigonometric and hyperbolic functions of one float and their inverses. C++17, freestanding, no
// heap, no state, no libm. Computed in double, where no function adds to a product, and rounded
// once at the end: the same bits on every target, and except in rare cases the nearest float.
// etch_trigonometry_lanes.h has those of several floats at once.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_functions.h"

namespace etch {
namespace rt {

// ---- parts ----

// x = n pi / 2 + rest, |rest| <= pi / 4 and a little.
struct Quadrant {
  double rest;
  uint32_t n;  // modulo 4
};

// Of a positive float from 2^25 on: the product with 2 / pi in integers, of which only the bits
// around the point count.
static inline Quadrant quadrant_of_large(uint32_t bits) {
  constexpr uint32_t kTwoOverPi[24] = {
      0xa2u,       0xa2f9u,     0xa2f983u,   0xa2f9836eu, 0xf9836e4eu, 0x836e4e44u,
      0x6e4e4415u, 0x4e441529u, 0x441529fcu, 0x1529fc27u, 0x29fc2757u, 0xfc2757d1u,
      0x2757d1f5u, 0x57d1f534u, 0xd1f534ddu, 0xf534ddc0u, 0x34ddc0dbu, 0xddc0db62u,
      0xc0db6295u, 0xdb629599u, 0x6295993cu, 0x95993c43u, 0x993c4390u, 0x3c439041u,
  };
  const uint32_t* digits = kTwoOverPi + ((bits >> 26) & 15u);
  const uint32_t x = ((bits & 0x7fffffu) | 0x800000u) << ((bits >> 23) & 7u);
  uint64_t turns = static_cast<uint64_t>(x * digits[0]) << 32;  // the high bits are whole turns
  turns |= (static_cast<uint64_t>(x) * digits[8]) >> 32;
  turns += static_cast<uint64_t>(x) * digits[4];
  const uint64_t n = (turns + (uint64_t{1} << 61)) >> 62;
  const int64_t rest = static_cast<int64_t>(turns - (n << 62));
  return {static_cast<double>(rest) * 0x1.921fb54442d18p-62, static_cast<uint32_t>(n & 3u)};
}

// Of a finite x.
static inline Quadrant quadrant_of(float x) {
  const uint32_t bits = float_bits(x) & 0x7fffffffu;
  if (bits >= 0x4c000000u) {  // 2^25
    Quadrant q = quadrant_of_large(bits);
    if (x < 0.0f) q = {-q.rest, (0u - q.n) & 3u};
    return q;
  }
  const double value = static_cast<double>(x);
  const double turns = opaque_double(value * 0.63661977236758134);
  const int32_t n = static_cast<int32_t>(turns < 0.0 ? turns - 0.5 : turns + 0.5);
  // The first product is exact: 25 bits times 25.
  const double high = value - opaque_double(static_cast<double>(n) * 0x1.921fb5p+0);
  const double rest = high - opaque_double(static_cast<double>(n) * 0x1.110b4611a6263p-26);
  return {rest, static_cast<uint32_t>(n) & 3u};
}

// 1 + f(1) t (1 + f(2) t (1 + ...)) with f(k) = a(k) / (b(k)), from the last term on.
struct SineTerms {  // (sin x) / x with t = -x^2
  ETCH_INLINE constexpr double of(double k) { return 1.0 / ((2.0 * k) * (2.0 * k + 1.0)); }
};
struct CosineTerms {  // cos x with t = -x^2
  ETCH_INLINE constexpr double of(double k) { return 1.0 / ((2.0 * k) * (2.0 * k - 1.0)); }
};
struct ArcTerms {  // (asin x) / x with t = x^2
  ETCH_INLINE constexpr double of(double k) {
    return ((2.0 * k - 1.0) * (2.0 * k - 1.0)) / ((2.0 * k) * (2.0 * k + 1.0));
  }
};
struct TangentTerms {  // (atanh x) / x with t = x^2
  ETCH_INLINE constexpr double of(double k) { return (2.0 * k - 1.0) / (2.0 * k + 1.0); }
};

template <class Terms>
static inline double series(double t, int32_t terms) {
  double sum = 1.0;
  for (int32_t k = terms; k >= 1; --k) {
    const double factor = opaque_double(t * opaque_double(Terms::of(static_cast<double>(k))));
    sum = opaque_double(sum * factor) + 1.0;
  }
  return sum;
}

static inline double square_of(double x) { return opaque_double(x * x); }

// sin(rest + n pi / 2)
static inline double sine_of(const Quadrant& q, uint32_t n) {
  const double t = -square_of(q.rest);
  const double y =
      (n & 1u) != 0u ? series<CosineTerms>(t, 8) : opaque_double(q.rest * series<SineTerms>(t, 7));
  return (n & 2u) != 0u ? -y : y;
}

// The root of x > 0, in the range of floats and a little more.
static inline double root_of(double x) {
  const double near = static_cast<double>(sqrt_f32(static_cast<float>(x)));
  return 0.5 * (near + x / near);
}

static inline double log_of(double x) { return log2_double(x) * 0.69314718055994531; }

// e^x, |x| <= 100.
static inline double power_of_e(double x) {
  const double twos = opaque_double(x * 1.4426950408889634);
  const int32_t power = static_cast<int32_t>(twos < 0.0 ? twos - 0.5 : twos + 0.5);
  const double high = x - opaque_double(static_cast<double>(power) * 0x1.62e42feep-1);
  const double r = high - opaque_double(static_cast<double>(power) * 0x1.a39ef35793c76p-33);
  double sum = 1.0;
  for (int32_t k = 13; k >= 1; --k) sum = opaque_double(sum * (r / static_cast<double>(k))) + 1.0;
  const uint64_t bits = static_cast<uint64_t>(power + 1023) << 52;
  double scale;
  ETCH_MEMCPY(&scale, &bits, sizeof scale);
  return sum * scale;
}

constexpr double kHalfPi = 1.5707963267948966;

static inline float no_number_f32() { return bits_float(0x7fc00000u); }
static inline bool is_finite_f32(float x) { return (float_bits(x) << 1) < 0xff000000u; }

// ---- functions ----

// Of the quadrant `ahead` further on.
static inline float sine_f32(float x, uint32_t ahead) {
  if (!is_finite_f32(x)) return no_number_f32();
  if (ahead == 0u && magnitude_of(x) < 0x1p-12f) return x;
  const Quadrant q = quadrant_of(x);
  return static_cast<float>(sine_of(q, q.n + ahead));
}

static inline float tan_f32(float x) {
  if (!is_finite_f32(x)) return no_number_f32();
  if (magnitude_of(x) < 0x1p-12f) return x;
  const Quadrant q = quadrant_of(x);
  return static_cast<float>(sine_of(q, q.n) / sine_of(q, q.n + 1u));
}

// Of x in [0, 1]: asin x, or with `rest` pi / 2 - asin x.
static inline double arc_sine_of(double x, bool rest) {
  if (x <= 0.5) {
    const double arc = opaque_double(x * series<ArcTerms>(square_of(x), 20));
    return rest ? kHalfPi - arc : arc;
  }
  const double half = (1.0 - x) * 0.5;
  if (half == 0.0) return rest ? 0.0 : kHalfPi;
  const double arc = opaque_double(2.0 * opaque_double(root_of(half) * series<ArcTerms>(half, 20)));
  return rest ? arc : kHalfPi - arc;
}

static inline float asin_f32(float x) {
  if (!(magnitude_of(x) <= 1.0f)) return no_number_f32();
  if (magnitude_of(x) < 0x1p-12f) return x;
  return with_sign_of(static_cast<float>(arc_sine_of(magnitude_of(x), false)), x);
}

static inline float acos_f32(float x) {
  if (!(magnitude_of(x) <= 1.0f)) return no_number_f32();
  const double arc = arc_sine_of(magnitude_of(x), true);
  return static_cast<float>(x < 0.0f ? 2.0 * kHalfPi - arc : arc);
}

static inline float atan_f32(float x) {
  if (is_nan(x)) return no_number_f32();
  const float size = magnitude_of(x);
  if (size < 0x1p-12f) return x;
  const bool turned = size > 1.0f;
  const double t = turned ? 1.0 / static_cast<double>(size) : static_cast<double>(size);
  const bool shifted = t > 0.41421356;
  const double u = shifted ? (t - 1.0) / (t + 1.0) : t;
  double arc = opaque_double(u * series<TangentTerms>(-square_of(u), 16));
  if (shifted) arc = arc + 0.5 * kHalfPi;
  return with_sign_of(static_cast<float>(turned ? kHalfPi - arc : arc), x);
}

static inline float sinh_f32(float x) {
  const float size = magnitude_of(x);
  if (!(size < 100.0f))
    return is_nan(x) ? no_number_f32() : with_sign_of(bits_float(0x7f800000u), x);
  if (size < 0x1p-12f) return x;
  const double v = static_cast<double>(size);
  if (size < 1.0f)
    return with_sign_of(static_cast<float>(v * series<SineTerms>(square_of(v), 9)), x);
  const double e = power_of_e(v);
  return with_sign_of(static_cast<float>(0.5 * (e - 1.0 / e)), x);
}

static inline float cosh_f32(float x) {
  const float size = magnitude_of(x);
  if (!(size < 100.0f)) return is_nan(x) ? no_number_f32() : bits_float(0x7f800000u);
  const double e = power_of_e(static_cast<double>(size));
  return static_cast<float>(0.5 * (e + 1.0 / e));
}

static inline float asinh_f32(float x) {
  const float size = magnitude_of(x);
  if (!is_finite_f32(x)) return is_nan(x) ? no_number_f32() : x;
  if (size < 0x1p-12f) return x;
  const double v = static_cast<double>(size);
  double y;
  if (size < 0.5f) {
    y = v * series<ArcTerms>(-square_of(v), 20);
  } else if (size < 0x1p20f) {
    y = log_of(v + root_of(square_of(v) + 1.0));
  } else {
    y = log_of(2.0 * v);
  }
  return with_sign_of(static_cast<float>(y), x);
}

static inline float acosh_f32(float x) {
  if (!(x >= 1.0f)) return no_number_f32();
  if (!is_finite_f32(x)) return x;
  const double v = static_cast<double>(x);
  if (x >= 0x1p20f) return static_cast<float>(log_of(2.0 * v));
  const double square = opaque_double((v - 1.0) * (v + 1.0));
  return square > 0.0 ? static_cast<float>(log_of(v + root_of(square))) : 0.0f;
}

static inline float atanh_f32(float x) {
  const float size = magnitude_of(x);
  if (!(size <= 1.0f)) return no_number_f32();
  if (size == 1.0f) return with_sign_of(bits_float(0x7f800000u), x);
  if (size < 0x1p-12f) return x;
  const double v = static_cast<double>(size);
  const double y = size < 0.25f ? v * series<TangentTerms>(square_of(v), 12)
                                : 0.5 * log_of((1.0 + v) / (1.0 - v));
  return with_sign_of(static_cast<float>(y), x);
}

}  // namespace rt
}  // namespace etch
