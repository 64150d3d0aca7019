// The sum of two rows of bytes without floats, for CPUs that have no vectors: a line through both
// operands that the compiler has compared with the float rule for every pair of bytes. C++17,
// freestanding, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_integer.h"

namespace etch {
namespace rt {

template <class Int>
static inline uint8_t limited_sum(Int sum, int low, int high) {
  return static_cast<uint8_t>(sum < low ? low : (sum > high ? high : sum));
}

// y = floor((a * a_factor + b * b_factor + offset) / 2^(32 - shift)), kept within low and
// high, which are bytes. The factors are unsigned, the offset comes in halves; shift in [0, 31]. y
// may be a or b.
static inline void add_bytes(const uint8_t* a, const uint8_t* b, uint8_t* y, int n,
                             int32_t a_factor, int32_t b_factor, int32_t offset_low,
                             int32_t offset_high, int shift, int low, int high) {
  const int64_t offset = joined(offset_low, offset_high);
  const uint32_t fa = static_cast<uint32_t>(a_factor), fb = static_cast<uint32_t>(b_factor);
  for (int i = 0; i < n; ++i) {
    const int64_t products =
        static_cast<int64_t>(static_cast<uint64_t>(a[i]) * fa + static_cast<uint64_t>(b[i]) * fb);
    const int64_t sum = (products + offset) >> (32 - shift);
    y[i] = limited_sum(sum, low, high);
  }
}

// The same in int32, with 2^bits.
static inline void add_bytes_narrow(const uint8_t* a, const uint8_t* b, uint8_t* y, int n,
                                    int32_t a_factor, int32_t b_factor, int32_t offset, int bits,
                                    int low, int high) {
  for (int i = 0; i < n; ++i) {
    const int32_t sum = sum_of_products(a[i], a_factor, b[i], b_factor, offset);
    y[i] = limited_sum(sum >> bits, low, high);
  }
}

// The same to the nearest integer, ties to even.
static inline void add_bytes_to_even(const uint8_t* a, const uint8_t* b, uint8_t* y, int n,
                                     int32_t a_factor, int32_t b_factor, int32_t offset, int bits,
                                     int low, int high) {
  for (int i = 0; i < n; ++i) {
    const int32_t sum = sum_of_products(a[i], a_factor, b[i], b_factor, offset);
    y[i] = limited_sum(nearest_quotient(sum, bits), low, high);
  }
}

}  // namespace rt
}  // namespace etch
