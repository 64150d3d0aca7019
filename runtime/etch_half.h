// Floats of 16 and 64 bits as a form in which tensors arrive and leave: conversions from and to
// float, rounding to nearest, ties to even. C++17, freestanding, no heap, no state. A step of 0
// repeats one element; steps count elements. float16 and bfloat16 are kept as their bits.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

namespace etch {
namespace rt {

static inline float float_from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u, fraction = half & 1023u;
  if (exponent == 31u) return bits_float(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0u) return bits_float(sign | (exponent + 112u) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;  // exact
  return sign != 0u ? -small : small;
}

static inline uint16_t half_from_float(float x) {
  const uint32_t bits = float_bits(x), size = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  if (size > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (size >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65,520 and more
  if (size <= 0x33000000u) return static_cast<uint16_t>(sign);            // half of the least
  if (size < 0x38800000u) {                                               // no leading one
    const uint32_t shift = 126u - (size >> 23), whole = (size & 0x7fffffu) | 0x800000u;
    const uint32_t even = (whole >> shift) & 1u;
    return static_cast<uint16_t>(sign | (whole + (1u << (shift - 1u)) - 1u + even) >> shift);
  }
  return static_cast<uint16_t>(sign |
                               (((size + 0xfffu + ((size >> 13) & 1u)) >> 13) - (112u << 10)));
}

static inline float float_from_bfloat(uint16_t x) {
  return bits_float(static_cast<uint32_t>(x) << 16);
}

static inline uint16_t bfloat_from_float(float x) {
  const uint32_t bits = float_bits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static inline void widen_half(const uint16_t* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = float_from_half(x[i * step]);
}
static inline void narrow_half(const float* x, ptrdiff_t step, uint16_t* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = half_from_float(x[i * step]);
}
static inline void widen_bfloat(const uint16_t* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = float_from_bfloat(x[i * step]);
}
static inline void narrow_bfloat(const float* x, ptrdiff_t step, uint16_t* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = bfloat_from_float(x[i * step]);
}
static inline void float_of_double(const double* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i * step]);
}
static inline void double_of_float(const float* x, ptrdiff_t step, double* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = static_cast<double>(x[i * step]);
}

}  // namespace rt
}  // namespace etch
