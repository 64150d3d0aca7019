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

// floor((product * factor + offset) / 2^(32 + shift)); see multiply_high().
static inline void multiply_bytes(const uint8_t* a, const uint8_t* b, int b_step, uint8_t* y, int n,
                                  int a_zero, int b_zero, int32_t factor, int32_t offset_low,
                                  int32_t offset_high, int shift, int low, int high) {
  const int64_t offset = joined(offset_low, offset_high);
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
