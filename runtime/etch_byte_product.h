// The product of two rows of bytes without floats, for CPUs that have no vectors: a line through
// the product of the centred bytes that the compiler has compared with the float rule for every
// pair of bytes. C++17, freestanding, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_integer.h"

namespace etch {
namespace rt {

// `n` elements of a, and of b every `b_step` elements, of which `a_zero` and `b_zero` are taken
// away; `quotient` of their product is kept within low and high, which are bytes. y may be a or b.
template <class Quotient>
static inline void multiply_each(const uint8_t* a, const uint8_t* b, int b_step, uint8_t* y, int n,
                                 int a_zero, int b_zero, int low, int high, Quotient quotient) {
  for (int i = 0; i < n; ++i) {
    const int32_t q = quotient((a[i] - a_zero) * (*b - b_zero));
    y[i] = static_cast<uint8_t>(q < low ? low : (q > high ? high : q));
    b += b_step;
  }
}

// product * factor + offset, which fits int32.
static inline int32_t scaled_product(int32_t product, int32_t factor, int32_t offset) {
  return static_cast<int32_t>(static_cast<uint32_t>(product) * static_cast<uint32_t>(factor) +
                              static_cast<uint32_t>(offset));
}

// Whether multiply_by_halves() serves for products of at most `most`, 255 * 255 or less.
static inline bool halves_serve(int32_t most, int32_t factor, int64_t offset, int shift) {
  const int64_t magnitude = offset < 0 ? -offset : offset;
  return shift <= 15 && int64_t{most} * factor + magnitude < int64_t{1} << 47;
}

// multiply_high() by products of 32 bits, of the factor's halves: the lower one is in [-2^15,
// 2^15).
static inline int32_t multiply_by_halves(int32_t product, int32_t factor, int64_t offset,
                                         int shift) {
  const int32_t low = static_cast<int16_t>(static_cast<uint16_t>(static_cast<uint32_t>(factor)));
  const int32_t high = static_cast<int32_t>((static_cast<uint32_t>(factor) + 0x8000u) >> 16);
  const int32_t below = product * low + static_cast<int32_t>(offset & 0xffff);
  const uint32_t sum = static_cast<uint32_t>(product * high) + static_cast<uint32_t>(below >> 16) +
                       static_cast<uint32_t>(offset >> 16);
  return static_cast<int32_t>(sum) >> (16 + shift);
}

// How far from `zero` a byte can be.
static inline int32_t reach_of_byte(int zero) { return zero < 128 ? 255 - zero : zero; }

// floor((product * factor + offset) / 2^(32 + shift)); see multiply_high(). Where a product of 64
// bits is four instructions and more of 32 bits each, by halves.
static inline void multiply_bytes(const uint8_t* a, const uint8_t* b, int b_step, uint8_t* y, int n,
                                  int a_zero, int b_zero, int32_t factor, int32_t offset_low,
                                  int32_t offset_high, int shift, int low, int high) {
  const int64_t offset = joined(offset_low, offset_high);
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  if (halves_serve(reach_of_byte(a_zero) * reach_of_byte(b_zero), factor, offset, shift)) {
    multiply_each(a, b, b_step, y, n, a_zero, b_zero, low, high, [=](int32_t product) {
      return multiply_by_halves(product, factor, offset, shift);
    });
    return;
  }
#endif
  multiply_each(a, b, b_step, y, n, a_zero, b_zero, low, high,
                [=](int32_t product) { return multiply_high(product, factor, offset, shift); });
}

// The same in int32, with 2^bits.
static inline void multiply_bytes_narrow(const uint8_t* a, const uint8_t* b, int b_step, uint8_t* y,
                                         int n, int a_zero, int b_zero, int32_t factor,
                                         int32_t offset, int bits, int low, int high) {
  multiply_each(a, b, b_step, y, n, a_zero, b_zero, low, high,
                [=](int32_t product) { return scaled_product(product, factor, offset) >> bits; });
}

// The same to the nearest integer, ties to even.
static inline void multiply_bytes_to_even(const uint8_t* a, const uint8_t* b, int b_step,
                                          uint8_t* y, int n, int a_zero, int b_zero, int32_t factor,
                                          int32_t offset, int bits, int low, int high) {
  multiply_each(a, b, b_step, y, n, a_zero, b_zero, low, high, [=](int32_t product) {
    return nearest_quotient(scaled_product(product, factor, offset), bits);
  });
}

}  // namespace rt
}  // namespace etch
