// Requantization in integers, for CPUs without an FPU: the same results as the float rule
// rne(fl(fl(acc) * scale)) of docs/spec/requantization.md section 3.1, either by a multiplier, an
// offset and a shift that the compiler has proved exact for every accumulator that can occur
// (section 3.6), or by carrying out the two float roundings in integers. C++17, freestanding, no
// state.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace etch {
namespace rt {

// The int64 whose halves are two consecutive kinds of parameters.
static inline int64_t joined(int32_t low, int32_t high) {
  return static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32) |
                              static_cast<uint32_t>(low));
}

// floor((acc * multiplier + offset) / 2^(32 + shift)). multiplier >= 0, |offset| <= 2^62, shift in
// [0, 31]: no accumulator overflows.
static inline int32_t multiply_high(int32_t acc, int32_t multiplier, int64_t offset,
                                    int32_t shift) {
  const int64_t sum = static_cast<int64_t>(acc) * multiplier + offset;
  return static_cast<int32_t>(sum >> 32) >> shift;
}

// floor((p + offset + (floor(p / 2^shift) is odd ? odd : 0)) / 2^shift) with p = acc * multiplier,
// modulo 2^32. shift in [0, 62]; |offset| <= 2^62 - 2^32. With an offset that depends on the parity
// ties can go to the even neighbour; odd = 0 adds the offset alone.
static inline int32_t multiply_shift(int32_t acc, int32_t multiplier, int64_t offset, int32_t shift,
                                     int32_t odd) {
  const int64_t product = static_cast<int64_t>(acc) * multiplier;
  const int64_t parity = (product >> shift) & 1;
  const int64_t sum = product + offset + (-parity & odd);
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum >> shift)));
}

// (v + below_half + (floor(v / 2^shift) is odd ? 1 : 0)) / 2^shift rounded down, of a sum modulo
// 2^32: with below_half = 2^(shift - 1) - 1 the nearest integer, ties to even. shift in [0, 31].
static inline int32_t shift_to_even(int32_t v, int32_t below_half, int32_t shift) {
  const uint32_t more = static_cast<uint32_t>(below_half) + static_cast<uint32_t>((v >> shift) & 1);
  return static_cast<int32_t>(static_cast<uint32_t>(v) + more) >> shift;
}

static inline int32_t bit_length(uint64_t v) {
#if defined(__GNUC__)
  return v == 0 ? 0 : 64 - __builtin_clzll(v);
#else
  int32_t bits = 0;
  for (; v != 0; v >>= 1) ++bits;
  return bits;
#endif
}

// v / 2^shift to the nearest integer, ties to even. v < 2^63; shift in [0, 62].
static inline uint64_t shifted_to_even(uint64_t v, int32_t shift) {
  if (shift == 0) return v;
  const uint64_t below_half = (uint64_t{1} << (shift - 1)) - 1;
  return (v + below_half + ((v >> shift) & 1)) >> shift;
}

// v / 2^bits to the nearest integer, ties to even. bits in [1, 30]; v + 2^(bits - 1) fits int32.
static inline int32_t nearest_quotient(int32_t v, int32_t bits) {
  return shift_to_even(v, (1 << (bits - 1)) - 1, bits);
}

// How a sum of products is divided by a power of two: in 64 bits or in int32 rounded down, or in
// int32 with ties to even.
enum SumForm { kWideSum, kNarrowSum, kSumToEven };

// a * a_factor + b * b_factor + offset of bytes a and b, which fits int32.
static inline int32_t sum_of_products(int32_t a, int32_t a_factor, int32_t b, int32_t b_factor,
                                      int32_t offset) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(a_factor) +
                              static_cast<uint32_t>(b) * static_cast<uint32_t>(b_factor) +
                              static_cast<uint32_t>(offset));
}

// rne(fl(fl(acc) * scale)), clamped to [-2^23, 2^23], for the finite float scale >= 0 whose bits
// are given. Both floats are rounded here to 24 bits; where the product is subnormal it is 0.
static inline int32_t float_product(int32_t acc, uint32_t scale_bits) {
  constexpr int32_t kDigits = 24, kMost = 1 << 23, kBias = 127 + 23;
  const int32_t exponent = static_cast<int32_t>(scale_bits >> 23);
  if (acc == 0 || exponent == 0) return 0;
  const uint64_t significand = (scale_bits & 0x7fffffu) | 0x800000u;
  const uint32_t magnitude = acc < 0 ? 0u - static_cast<uint32_t>(acc) : static_cast<uint32_t>(acc);
  const int32_t excess = bit_length(magnitude) - kDigits;
  const int32_t dropped = excess > 0 ? excess : 0;
  const uint64_t product = shifted_to_even(magnitude, dropped) * significand;  // < 2^49
  const int32_t rounded_off = bit_length(product) - kDigits;
  const uint64_t digits = shifted_to_even(product, rounded_off);   // in [2^23, 2^24]
  const int32_t shift = kBias - exponent - dropped - rounded_off;  // value = digits / 2^shift
  if (shift <= 0) return acc < 0 ? -kMost : kMost;
  if (shift > kDigits + 1) return 0;
  const int32_t rounded = static_cast<int32_t>(shifted_to_even(digits, shift));
  return acc < 0 ? -rounded : rounded;
}

// The same for vectors, one lane after the other; `p` holds `lanes` parameters of each kind:
// multiplier, offset (low half, high half), shift, odd.
static inline void multiply_shift_lanes(const int32_t* acc, const int32_t* p, int32_t* q,
                                        int32_t lanes) {
  for (int32_t c = 0; c < lanes; ++c) {
    q[c] = multiply_shift(acc[c], p[c], joined(p[lanes + c], p[2 * lanes + c]), p[3 * lanes + c],
                          p[4 * lanes + c]);
  }
}

// What the verb dot_squares says, of 4 lanes and more.
static inline void dot_squares(int32_t* sum, const uint8_t* x, const uint8_t* w, int32_t lanes) {
  for (ptrdiff_t c = 0; c < lanes; ++c) {
    const uint8_t* const from_x = x + c / 4 * 16 + c % 4 / 2 * 8;
    const uint8_t* const from_w = w + c / 4 * 16 + c % 2 * 8;
    int32_t more = 0;  // at most 8 * 255 * 128
    for (int32_t k = 0; k < 8; ++k) more += from_x[k] * static_cast<int8_t>(from_w[k]);
    sum[c] = static_cast<int32_t>(static_cast<uint32_t>(sum[c]) + static_cast<uint32_t>(more));
  }
}

// Lanes whose scale bits are 0 stay as they are.
static inline void float_product_lanes(const int32_t* acc, const int32_t* scale_bits, int32_t* q,
                                       int32_t lanes) {
  for (int32_t c = 0; c < lanes; ++c) {
    if (scale_bits[c] != 0) q[c] = float_product(acc[c], static_cast<uint32_t>(scale_bits[c]));
  }
}

}  // namespace rt
}  // namespace etch
