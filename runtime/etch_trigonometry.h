// Trigonometric and hyperbolic functions of one float and the inverses of the latter. C++17, no
// heap, no state, no libm. Computed in double, where no function adds to a product, and rounded
// once at the end: the same bits on every target, and except in rare cases the nearest float.
// etch_trigonometry_lanes.h has those of several floats at once, and the other inverses.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_functions.h"
#include "etch_sine_integers.h"

namespace etch {
namespace rt {

// Doubles are calls.
#if (defined(__arm__) && (!defined(__ARM_FP) || (__ARM_FP & 8) == 0)) || \
    (defined(__riscv) && (!defined(__riscv_flen) || __riscv_flen < 64))
#define ETCH_SOFT_DOUBLE 1
#endif

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

// Polynomials of least error relative to the function, on a range of t a little larger than what
// they are used for: at most 3e-12 from it, so that nearly always the nearest float is found.
struct Series {
  // (sin x) / x and cos x with t = -x^2, |x| <= pi / 4
  double sine[6] = {0x1.fffffffffffd7p-1,  0x1.5555555550c77p-3,  0x1.1111110bbdc1fp-7,
                    0x1.a019f87d2520bp-13, 0x1.71d72070396edp-19, 0x1.a94afafeda2f3p-26};
  double cosine[6] = {0x1.ffffffffffdb1p-1,  0x1.ffffffffdff29p-2,  0x1.555555430e747p-5,
                      0x1.6c16b209ab99fp-10, 0x1.a00e39841db4ap-16, 0x1.23b6c29f2534fp-22};
  // (asinh x) / x with t = -x^2, x <= 1 / 2
  double area_sine[8] = {0x1.fffffffffaf5bp-1, 0x1.5555552c31a31p-3, 0x1.33331797514ebp-4,
                         0x1.6dafc3b466087p-5, 0x1.f0e0043c6edcap-6, 0x1.666d721df84a2p-6,
                         0x1.e4fa1b938d05bp-7, 0x1.ac5e2d47cc19dp-8};
  // (atanh x) / x with t = x^2, x <= 1 / 4
  double area_tangent[6] = {0x1.fffffffffa15ep-1, 0x1.5555558a400acp-2, 0x1.99994d042d32cp-3,
                            0x1.24a67c923664ep-3, 0x1.c25392d7c8ee0p-4, 0x1.b6155cfb7051bp-4};
  // (sinh x) / x with t = x^2, x <= 1
  double hyperbolic_sine[6] = {0x1.ffffffffffd6ap-1,  0x1.5555555585032p-3,  0x1.111110edb4f43p-7,
                               0x1.a01a27ce9e4d5p-13, 0x1.71cba86512f89p-19, 0x1.b6b0229282663p-26};
  // e^t, |t| <= ln(2) / 2
  double power[9] = {0x1.ffffffffff7a4p-1,  0x1.ffffffffd5628p-1,  0x1.0000000087ed9p-1,
                     0x1.555555a08325cp-3,  0x1.555554052810cp-5,  0x1.111082ad5259bp-7,
                     0x1.6c18b306c0092p-10, 0x1.a1a81ec246aa0p-13, 0x1.9edad53fe6ca7p-16};
};
static constexpr Series kSeries;

template <size_t count>
static inline double series(const double (&terms)[count], double t) {
  double sum = terms[count - 1];
  for (size_t k = count - 1; k-- > 0;) sum = opaque_double(sum * t) + terms[k];
  return sum;
}

static inline double square_of(double x) { return opaque_double(x * x); }

// sin(rest + n pi / 2)
static inline double sine_of(const Quadrant& q, uint32_t n) {
  const double t = -square_of(q.rest);
  const double y =
      (n & 1u) != 0u ? series(kSeries.cosine, t) : opaque_double(q.rest * series(kSeries.sine, t));
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
  const uint64_t bits = static_cast<uint64_t>(power + 1023) << 52;
  double scale;
  ETCH_MEMCPY(&scale, &bits, sizeof scale);
  return series(kSeries.power, r) * scale;
}

static inline float no_number_f32() { return bits_float(0x7fc00000u); }
static inline bool is_finite_f32(float x) { return (float_bits(x) << 1) < 0xff000000u; }

// ---- functions ----

// Of the quadrant `ahead` further on.
static inline float sine_f32(float x, uint32_t ahead) {
  if (!is_finite_f32(x)) return no_number_f32();
  if (ahead == 0u && magnitude_of(x) < 0x1p-12f) return x;
#if defined(ETCH_SOFT_DOUBLE)
  float y;
  if (sine_in_integers(x, ahead, &y)) return y;
#endif
  const Quadrant q = quadrant_of(x);
  return static_cast<float>(sine_of(q, q.n + ahead));
}

static inline float tan_f32(float x) {
  if (!is_finite_f32(x)) return no_number_f32();
  if (magnitude_of(x) < 0x1p-12f) return x;
  const Quadrant q = quadrant_of(x);
  return static_cast<float>(sine_of(q, q.n) / sine_of(q, q.n + 1u));
}

static inline float sinh_f32(float x) {
  const float size = magnitude_of(x);
  if (!(size < 100.0f))
    return is_nan(x) ? no_number_f32() : with_sign_of(bits_float(0x7f800000u), x);
  if (size < 0x1p-12f) return x;
  const double v = static_cast<double>(size);
  if (size < 1.0f)
    return with_sign_of(static_cast<float>(v * series(kSeries.hyperbolic_sine, square_of(v))), x);
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
    y = v * series(kSeries.area_sine, -square_of(v));
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
  const double y = size < 0.25f ? v * series(kSeries.area_tangent, square_of(v))
                                : 0.5 * log_of((1.0 + v) / (1.0 - v));
  return with_sign_of(static_cast<float>(y), x);
}

}  // namespace rt
}  // namespace etch
