// QuantizeLinear to bytes for cores without an FPU: the same results as a quotient of floats that
// is rounded to the nearest integer, from the bits of the element and a reciprocal of the scale in
// integers. Where the result is so close to a tie that the rounding of the float quotient decides,
// which is rare, that quotient is computed. C++17, freestanding, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

namespace etch {
namespace rt {

// 1 / scale is about reciprocal / 2^digits, reciprocal in [2^31, 2^32): exactly 2^31 of powers of
// two, else rounded. A scale between 2^-60 and 2^60, so that elements below the normal ones are 0.
struct QuantizeBits {
  float scale;
  int32_t reciprocal;  // as unsigned
  int32_t digits;
  int32_t low, high;  // of the result before the zero point is added
};

// The upper half of the product of a significand, whose lowest 8 bits are 0, and a reciprocal, or
// up to 3 less, from parts of 16 bits; exact for the reciprocal 2^31.
ETCH_INLINE uint32_t product_above_of_parts(uint32_t significand, uint32_t reciprocal) {
  const uint32_t upper = significand >> 16, factor = reciprocal >> 16;
  const uint32_t between = (upper * (reciprocal & 0xffffu)) >> 16;
  return upper * factor + between + (((significand & 0xffffu) * factor) >> 16);
}

// The parts are for cores whose products have 32 bits.
ETCH_INLINE uint32_t product_above(uint32_t significand, uint32_t reciprocal) {
#if defined(__arm__) && !defined(__thumb2__)
  return product_above_of_parts(significand, reciprocal);
#else
  return static_cast<uint32_t>((uint64_t{significand} * reciprocal) >> 32);
#endif
}

// The magnitude's quotient, of which `product` / 2^shift is an approximation; shift in [22, 32].
ETCH_INLINE int32_t rounded_quotient(uint32_t magnitude, uint32_t product, int32_t shift,
                                     const QuantizeBits& q) {
  constexpr uint32_t kHalf = 0x80000000u, kNear = 1u << 19;  // more than (2^8 + 4) * 2^10
  const int32_t whole = static_cast<int32_t>((product >> (shift - 1)) >> 1);
  const uint32_t fraction = product << (32 - shift);
  if (fraction - (kHalf - kNear) > 2 * kNear) return whole + static_cast<int32_t>(fraction >> 31);
  if (static_cast<uint32_t>(q.reciprocal) != kHalf)
    return round_even(bits_float(magnitude) / q.scale);
  const bool up = fraction > kHalf || (fraction == kHalf && (whole & 1) != 0);
  return whole + (up ? 1 : 0);
}

ETCH_INLINE int32_t quantized_bits(uint32_t bits, const QuantizeBits& q) {
  const uint32_t magnitude = bits & 0x7fffffffu;
  // The quotient is product / 2^shift.
  const int32_t shift = q.digits + 126 - static_cast<int32_t>(magnitude >> 23);
  if (shift > 32) return 0;  // half of a step at most
  if (shift < 22) return (bits >> 31) != 0u || magnitude > 0x7f800000u ? q.low : q.high;
  const uint32_t significand = (magnitude << 8) | 0x80000000u;
  const uint32_t product = product_above(significand, static_cast<uint32_t>(q.reciprocal));
  const int32_t rounded = rounded_quotient(magnitude, product, shift, q);
  return (bits >> 31) != 0u ? -rounded : rounded;
}

// `n` floats to every `step`th byte of y. NaN becomes the least value.
static inline void quantize_bits(const float* x, uint8_t* y, int n, int step, float scale,
                                 int32_t reciprocal, int32_t digits, int32_t low, int32_t high,
                                 int32_t zero_point) {
  const QuantizeBits q = {scale, reciprocal, digits, low, high};
  for (int i = 0; i < n; ++i) {
    const int32_t v = quantized_bits(float_bits(x[i]), q);
    const int32_t inside = v < q.low ? q.low : (v > q.high ? q.high : v);
    *y = static_cast<uint8_t>(inside + zero_point);
    y += step;
  }
}

}  // namespace rt
}  // namespace etch
