// The sum of two rows of bytes without floats, for CPUs that have no vectors, or none with fused
// steps of floats: a line through both operands that the compiler has compared with the float rule
// for every pair of bytes. C++17, freestanding, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_integer.h"
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

template <class Int>
static inline uint8_t limited_sum(Int sum, int low, int high) {
  return static_cast<uint8_t>(sum < low ? low : (sum > high ? high : sum));
}

#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#define ETCH_NEON_SUMS 1

// How four sums of products are divided: with what multiplies and is added in all lanes, and a
// shift to the left by a negative number. Quotients fit int16. Hardly any line is one of 64 bits:
// those have no vectors.
struct NeonNarrowSum {
  int32x4_t a_factor, b_factor, offset, shift;
};
static inline int32x4_t quotients(const NeonNarrowSum& line, int32x4_t a, int32x4_t b) {
  const int32x4_t sums = vmlaq_s32(vmlaq_s32(line.offset, a, line.a_factor), b, line.b_factor);
  return vshlq_s32(sums, line.shift);
}

struct NeonSumToEven {
  NeonNarrowSum line;
  int32x4_t below_half;
};
static inline int32x4_t quotients(const NeonSumToEven& line, int32x4_t a, int32x4_t b) {
  const NeonNarrowSum& of = line.line;
  const int32x4_t sums = vmlaq_s32(vmlaq_s32(of.offset, a, of.a_factor), b, of.b_factor);
  const int32x4_t odd = vandq_s32(vshlq_s32(sums, of.shift), vdupq_n_s32(1));
  return vshlq_s32(vaddq_s32(sums, vaddq_s32(line.below_half, odd)), of.shift);
}

static inline NeonNarrowSum narrow_sum(int32_t a_factor, int32_t b_factor, int32_t offset,
                                       int bits) {
  return {vdupq_n_s32(a_factor), vdupq_n_s32(b_factor), vdupq_n_s32(offset), vdupq_n_s32(-bits)};
}

// The sums of eight bytes at a time; returns how many.
template <class Line>
static inline int add_eights(const uint8_t* a, const uint8_t* b, uint8_t* y, int n,
                             const Line& line, int low, int high) {
  const int16x8_t least = vdupq_n_s16(static_cast<int16_t>(low));
  const int16x8_t most = vdupq_n_s16(static_cast<int16_t>(high));
  int i = 0;
  for (; n - i >= 8; i += 8) {
    const int16x8_t wide_a = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(a + i)));
    const int16x8_t wide_b = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(b + i)));
    const int32x4_t first =
        quotients(line, vmovl_s16(vget_low_s16(wide_a)), vmovl_s16(vget_low_s16(wide_b)));
    const int32x4_t last =
        quotients(line, vmovl_s16(vget_high_s16(wide_a)), vmovl_s16(vget_high_s16(wide_b)));
    const int16x8_t sums = vcombine_s16(vmovn_s32(first), vmovn_s32(last));
    const int16x8_t inside = vminq_s16(vmaxq_s16(sums, least), most);
    vst1_u8(y + i, vmovn_u16(vreinterpretq_u16_s16(inside)));
  }
  return i;
}
#endif

// y = floor((a * a_factor + b * b_factor + offset) / 2^(32 - shift)), which int16 holds, kept
// within low and high, which are bytes. The factors are unsigned, the offset comes in halves; shift
// in [0, 31]. y may be a or b.
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
  int i = 0;
#if defined(ETCH_NEON_SUMS)
  i = add_eights(a, b, y, n, narrow_sum(a_factor, b_factor, offset, bits), low, high);
#endif
  for (; i < n; ++i) {
    const int32_t sum = sum_of_products(a[i], a_factor, b[i], b_factor, offset);
    y[i] = limited_sum(sum >> bits, low, high);
  }
}

// The same to the nearest integer, ties to even.
static inline void add_bytes_to_even(const uint8_t* a, const uint8_t* b, uint8_t* y, int n,
                                     int32_t a_factor, int32_t b_factor, int32_t offset, int bits,
                                     int low, int high) {
  int i = 0;
#if defined(ETCH_NEON_SUMS)
  const NeonSumToEven line{narrow_sum(a_factor, b_factor, offset, bits),
                           vdupq_n_s32((1 << (bits - 1)) - 1)};
  i = add_eights(a, b, y, n, line, low, high);
#endif
  for (; i < n; ++i) {
    const int32_t sum = sum_of_products(a[i], a_factor, b[i], b_factor, offset);
    y[i] = limited_sum(nearest_quotient(sum, bits), low, high);
  }
}

}  // namespace rt
}  // namespace etch
