// Sums and products of floats in integers, for cores without an FPU whose compilers call a library
// for each: the same bits as IEEE's round to nearest, ties to even, in about half of the
// instructions of libgcc's functions on Cortex-M0 and RV32IMAC. Operands that are normal or zero
// with results that are normal or zero are computed here; all others are left to the compiler.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

// Cores whose libraries have such functions in C; those of Cortex-M3 and others in assembly.
#if defined(__GNUC__) && ((defined(__arm__) && !defined(__ARM_FP) && !defined(__thumb2__)) || \
                          (defined(__riscv) && !defined(__riscv_flen)))
#define ETCH_SOFT_FLOAT 1
#endif

namespace etch {
namespace rt {

// The upper half of the product of two numbers of 32 bits, of which the lowest 8 are 0; its lowest
// bit also stands for what is below. Of parts of 12 bits, for cores whose products have 32 bits.
ETCH_INLINE uint32_t upper_product_of_parts(uint32_t a, uint32_t b) {
  const uint32_t a_high = a >> 20, a_low = (a >> 8) & 0xfffu;
  const uint32_t b_high = b >> 20, b_low = (b >> 8) & 0xfffu;
  const uint32_t low = a_low * b_low;
  const uint32_t middle = a_high * b_low + a_low * b_high + (low >> 12);
  const uint32_t below = (middle & 0xfu) | (low & 0xfffu);
  return (((a_high * b_high) << 8) + (middle >> 4)) | (below != 0u ? 1u : 0u);
}

ETCH_INLINE uint32_t upper_product(uint32_t a, uint32_t b) {
#if defined(__arm__) && !defined(__thumb2__)
  return upper_product_of_parts(a, b);
#else
  const uint64_t product = uint64_t{a} * b;
  return static_cast<uint32_t>(product >> 32) | (static_cast<uint32_t>(product) != 0u ? 1u : 0u);
#endif
}

// sign, exponent and significand in [2^31, 2^32), whose lowest bit also stands for what is below,
// as a float; 1 <= exponent <= 254. Beyond the largest float it is infinity.
ETCH_INLINE float rounded_float(uint32_t sign, int32_t exponent, uint32_t significand) {
  const uint32_t kept = significand >> 8;
  const uint32_t up = ((significand & 0xffu) + 0x7fu + (kept & 1u)) >> 8;
  return bits_float(sign + (static_cast<uint32_t>(exponent - 1) << 23) + kept + up);
}

// fl(a * b)
ETCH_INLINE float inlined_product(float a, float b) {
  const uint32_t a_bits = float_bits(a), b_bits = float_bits(b);
  const uint32_t a_exponent = (a_bits >> 23) & 0xffu, b_exponent = (b_bits >> 23) & 0xffu;
  const uint32_t sign = (a_bits ^ b_bits) & 0x80000000u;
  int32_t exponent = static_cast<int32_t>(a_exponent + b_exponent) - 126;
  if (a_exponent - 1u >= 254u || b_exponent - 1u >= 254u || exponent < 2 || exponent > 254) {
    const bool has_zero = (a_bits << 1) == 0u || (b_bits << 1) == 0u;
    if (has_zero && a_exponent != 255u && b_exponent != 255u) return bits_float(sign);
    return a * b;
  }
  uint32_t upper = upper_product((a_bits << 8) | 0x80000000u, (b_bits << 8) | 0x80000000u);
  if ((upper >> 31) == 0u) {
    // The lowest bit, which may stand for what is below, stays in place.
    upper = (upper << 1) | (upper & 1u);
    --exponent;
  }
  return rounded_float(sign, exponent, upper);
}

// fl(a + b)
ETCH_INLINE float inlined_sum(float a, float b) {
  uint32_t large = float_bits(a), small = float_bits(b);
  if ((large << 1) < (small << 1)) {
    const uint32_t other = large;
    large = small;
    small = other;
  }
  auto exponent = static_cast<int32_t>((large >> 23) & 0xffu);
  const auto small_exponent = static_cast<int32_t>((small >> 23) & 0xffu);
  if (exponent == 255 || small_exponent == 0) {
    if (exponent == 255 || (small << 1) != 0u) return a + b;
    return bits_float((large << 1) == 0u ? large & small : large);
  }
  const uint32_t sign = large & 0x80000000u;
  const uint32_t addend = ((small << 7) & 0x3fffffffu) | 0x40000000u;
  uint32_t sum = ((large << 7) & 0x3fffffffu) | 0x40000000u;
  const int32_t distance = exponent - small_exponent;
  uint32_t shifted = 1u;  // all that is left of what is more than 31 bits away
  if (distance < 32) {
    shifted = addend >> distance;
    shifted |= (shifted << distance) != addend ? 1u : 0u;
  }
  if (((large ^ small) >> 31) == 0u) {
    sum += shifted;
    ++exponent;
    if ((sum >> 31) == 0u) {
      sum <<= 1;
      --exponent;
    }
    return exponent > 254 ? a + b : rounded_float(sign, exponent, sum);
  }
  sum -= shifted;
  if (sum == 0u) return 0.0f;
  for (++exponent; (sum >> 31) == 0u; sum <<= 1) --exponent;
  return exponent < 1 ? a + b : rounded_float(sign, exponent, sum);
}

// The same as functions, for all but the loops that take most of the time.
#if defined(__GNUC__)
#define ETCH_CALLED static inline __attribute__((noinline))
#else
#define ETCH_CALLED static inline
#endif
ETCH_CALLED float soft_product(float a, float b) { return inlined_product(a, b); }
ETCH_CALLED float soft_sum(float a, float b) { return inlined_sum(a, b); }
#undef ETCH_CALLED

}  // namespace rt
}  // namespace etch
