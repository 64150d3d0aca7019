// What the vocabularies for 64-bit Arm have in common: every verb but the products and those of
// etch_neon_base.h. Included by vocab.h alone. Every verb has the same meaning on every
// instruction set, down to rounding and saturation; conversions here say their rounding themselves,
// but sums and products follow FPCR, which must say "round to nearest" and keep subnormals, as it
// does unless a program changes it. n, first, zp and stride are meant to be literals, so that
// choosing between forms costs nothing.
#pragma once

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_by_lanes.h"
#include "etch_float.h"  // macros; also refuses -ffast-math
#include "etch_neon_base.h"

#if defined(__AARCH64EB__)
#error "etch: 64-bit Arm in big-endian order takes the target scalar"
#endif

namespace etch {
namespace neon {

struct QuadBytes {
  uint8x16_t v0, v1, v2, v3;
};

// The same value, of unknown origin to the compiler: a product that went through here cannot be
// fused with a later addition.
ETCH_INLINE float32x4_t opaque(float32x4_t v) {
#if defined(__GNUC__)
  __asm__("" : "+w"(v));
#endif
  return v;
}

// ---- parts of a register ----

using by_lanes::load_word_n;
using by_lanes::store_word_n;

// n <= 16 bytes, the rest 0.
ETCH_INLINE uint8x16_t load_n(const uint8_t* p, int n) {
  if (n >= 16) return vld1q_u8(p);
  if (n < 8) return vcombine_u8(vcreate_u8(load_word_n(p, n)), vcreate_u8(0));
  return vcombine_u8(vld1_u8(p), vcreate_u8(n == 8 ? 0 : load_word_n(p + 8, n - 8)));
}

// The first n <= 16 bytes.
ETCH_INLINE void store_n(uint8_t* p, uint8x16_t v, int n) {
  if (n >= 16) {
    vst1q_u8(p, v);
  } else if (n < 8) {
    store_word_n(p, vgetq_lane_u64(vreinterpretq_u64_u8(v), 0), n);
  } else {
    vst1_u8(p, vget_low_u8(v));
    if (n > 8) store_word_n(p + 8, vgetq_lane_u64(vreinterpretq_u64_u8(v), 1), n - 8);
  }
}

// Bytes from wherever `index` says.
ETCH_INLINE Bytes shuffled(Bytes b, uint64_t low_index, uint64_t high_index) {
  const uint8x16_t index = vcombine_u8(vcreate_u8(low_index), vcreate_u8(high_index));
  return {vqtbl1q_u8(b.v, index)};
}

// dot_squares where no instruction does it: products of a row of x and a row of w at a time.
ETCH_INLINE int32x4_t sums_of_eight(uint8x8_t x, int8x8_t w) {
  const int16x8_t wide = vreinterpretq_s16_u16(vmovl_u8(x));
  const int16x8_t weights = vmovl_s8(w);
  return vmlal_high_s16(vmull_s16(vget_low_s16(wide), vget_low_s16(weights)), wide, weights);
}
ETCH_INLINE int32x4_t squares(int32x4_t acc, uint8x16_t x, uint8x16_t weights) {
  const int8x16_t w = vreinterpretq_s8_u8(weights);
  const int32x4_t low = vpaddq_s32(sums_of_eight(vget_low_u8(x), vget_low_s8(w)),
                                   sums_of_eight(vget_low_u8(x), vget_high_s8(w)));
  const int32x4_t high = vpaddq_s32(sums_of_eight(vget_high_u8(x), vget_low_s8(w)),
                                    sums_of_eight(vget_high_u8(x), vget_high_s8(w)));
  return vaddq_s32(acc, vpaddq_s32(low, high));
}

// ---- integers ----

ETCH_INLINE I32 load_u8(const uint8_t* p) { return widened(vcreate_u8(load_four(p))); }
ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) {
  return widened(vcreate_u8(load_word_n(p, n)));
}
ETCH_INLINE I32 add_pairs(I32 a, I32 b) {
  return {vaddq_s32(vtrn1q_s32(a.v, b.v), vtrn2q_s32(a.v, b.v))};
}

ETCH_INLINE Bytes repeat4(const uint8_t* x) { return by_lanes::repeat4<Bytes>(x); }
ETCH_INLINE Bytes repeat4_at(const uint8_t* x, const uint8_t* at, int) {
  return repeat4(x + by_lanes::place_at(at));
}
ETCH_INLINE I32 dot_sums16(I32 acc, Bytes x, Bytes w) { return by_lanes::dot_sums16(acc, x, w); }
ETCH_INLINE I32 low_halves(I32 a, I32 b) {
  return {
      vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a.v), vreinterpretq_s64_s32(b.v)))};
}
ETCH_INLINE I32 high_halves(I32 a, I32 b) {
  return {
      vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a.v), vreinterpretq_s64_s32(b.v)))};
}

// ---- bytes ----

ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) { return {load_n(p, n)}; }

// Single words are set; otherwise the bytes are moved to their place.
ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  if ((n != 4 && n != 8) || first % n != 0) {
    const uint8x16_t place =
        vcombine_u8(vcreate_u8(0x0706050403020100u), vcreate_u8(0x0F0E0D0C0B0A0908u));
    const uint8x16_t source = vsubq_u8(place, vdupq_n_u8(static_cast<uint8_t>(first)));
    const uint8x16_t here = vcltq_u8(source, vdupq_n_u8(static_cast<uint8_t>(n)));
    return {vbslq_u8(here, vqtbl1q_u8(load_n(p, n), source), b.v)};
  }
  if (n == 8) {
    const uint64_t eight = vget_lane_u64(vreinterpret_u64_u8(vld1_u8(p)), 0);
    const uint64x2_t words = vreinterpretq_u64_u8(b.v);
    return {vreinterpretq_u8_u64(first == 0 ? vsetq_lane_u64(eight, words, 0)
                                            : vsetq_lane_u64(eight, words, 1))};
  }
  const uint32_t four = load_four(p);
  const uint32x4_t words = vreinterpretq_u32_u8(b.v);
  if (first == 0) return {vreinterpretq_u8_u32(vsetq_lane_u32(four, words, 0))};
  if (first == 4) return {vreinterpretq_u8_u32(vsetq_lane_u32(four, words, 1))};
  if (first == 8) return {vreinterpretq_u8_u32(vsetq_lane_u32(four, words, 2))};
  return {vreinterpretq_u8_u32(vsetq_lane_u32(four, words, 3))};
}

ETCH_INLINE QuadI widen4(Bytes b) {
  const uint16x8_t low = vmovl_u8(vget_low_u8(b.v));
  const uint16x8_t high = vmovl_high_u8(b.v);
  return {{vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(low)))},
          {vreinterpretq_s32_u32(vmovl_high_u16(low))},
          {vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(high)))},
          {vreinterpretq_s32_u32(vmovl_high_u16(high))}};
}

ETCH_INLINE Bytes narrow4(I32 v0, I32 v1, I32 v2, I32 v3, int zp) {
  const int16x8_t offset = vdupq_n_s16(static_cast<int16_t>(zp));
  const int16x8_t v01 = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(v0.v), v1.v), offset);
  const int16x8_t v23 = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(v2.v), v3.v), offset);
  return {vqmovun_high_s16(vqmovun_s16(v01), v23)};
}

// What interleave4 wants, as bytes.
ETCH_INLINE QuadBytes interleaved(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const uint16x8_t low01 = vreinterpretq_u16_u8(vzip1q_u8(r0.v, r1.v));
  const uint16x8_t high01 = vreinterpretq_u16_u8(vzip2q_u8(r0.v, r1.v));
  const uint16x8_t low23 = vreinterpretq_u16_u8(vzip1q_u8(r2.v, r3.v));
  const uint16x8_t high23 = vreinterpretq_u16_u8(vzip2q_u8(r2.v, r3.v));
  return {vreinterpretq_u8_u16(vzip1q_u16(low01, low23)),
          vreinterpretq_u8_u16(vzip2q_u16(low01, low23)),
          vreinterpretq_u8_u16(vzip1q_u16(high01, high23)),
          vreinterpretq_u8_u16(vzip2q_u16(high01, high23))};
}

ETCH_INLINE Bytes every_second(Bytes a, Bytes b, int n) {
  if (n == 8) {
    return {vreinterpretq_u8_u64(vuzp1q_u64(vreinterpretq_u64_u8(a.v), vreinterpretq_u64_u8(b.v)))};
  }
  if (n == 4) {
    return {vreinterpretq_u8_u32(vuzp1q_u32(vreinterpretq_u32_u8(a.v), vreinterpretq_u32_u8(b.v)))};
  }
  return {vreinterpretq_u8_u16(vuzp1q_u16(vreinterpretq_u16_u8(a.v), vreinterpretq_u16_u8(b.v)))};
}

ETCH_INLINE Bytes unzip(Bytes b) { return shuffled(b, 0x0705060403010200u, 0x0F0D0E0C0B090A08u); }

// The indices of bytes, the first one lowest.
ETCH_INLINE Bytes interleave(Bytes b, int n) {
  if (n == 2) return shuffled(b, 0x0703060205010400u, 0x0F0E0D0C0B0A0908u);
  if (n == 3) return shuffled(b, 0x0602090501080400u, 0x0F0E0D0C0B07030Au);
  return shuffled(b, 0x0D0905010C080400u, 0x0F0B07030E0A0602u);
}

ETCH_INLINE void store_slice(uint8_t* p, Bytes b, int first, int n) {
  if (first == 0) {
    store_n(p, b.v, n);
  } else if (first == 4) {
    store_n(p, vextq_u8(b.v, b.v, 4), n);
  } else if (first == 8) {
    store_n(p, vextq_u8(b.v, b.v, 8), n);
  } else if (first == 12) {
    store_n(p, vextq_u8(b.v, b.v, 12), n);
  } else {
    uint8_t all[16];
    vst1q_u8(all, b.v);
    ETCH_MEMCPY(p, all + first, static_cast<size_t>(n));
  }
}

// ---- floats ----

// The bytes of n < 4 floats or int32.
ETCH_INLINE uint8x16_t load_lanes_n(const void* p, int n) {
  return load_n(static_cast<const uint8_t*>(p), 4 * n);
}
ETCH_INLINE void store_lanes_n(void* p, uint8x16_t v, int n) {
  store_n(static_cast<uint8_t*>(p), v, 4 * n);
}

ETCH_INLINE I32 load_i32_n(const int32_t* p, int n) {
  return {n >= 4 ? vld1q_s32(p) : vreinterpretq_s32_u8(load_lanes_n(p, n))};
}

ETCH_INLINE F32 load_f32_n(const float* p, int n) {
  return {vreinterpretq_f32_u8(load_lanes_n(p, n))};
}
ETCH_INLINE F32 mul_f32(F32 a, F32 b) { return {opaque(vmulq_f32(a.v, b.v))}; }
ETCH_INLINE F32 add_f32(F32 a, F32 b) { return {opaque(vaddq_f32(a.v, b.v))}; }
ETCH_INLINE F32 add_into(F32 acc, F32 v) { return add_f32(acc, v); }
ETCH_INLINE F32 div_f32(F32 a, F32 b) { return {vdivq_f32(a.v, b.v)}; }
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) { return {vfmaq_f32(c.v, a.v, b.v)}; }

ETCH_INLINE F32 sub_f32(F32 a, F32 b) { return {opaque(vsubq_f32(a.v, b.v))}; }
ETCH_INLINE F32 abs_f32(F32 v) { return {vabsq_f32(v.v)}; }
ETCH_INLINE F32 neg_f32(F32 v) { return {vnegq_f32(v.v)}; }

// Comparisons and not FMAX and FMIN, which treat NaN and zeros of two signs otherwise.
ETCH_INLINE F32 at_least_f32(F32 v, F32 low) {
  return {vbslq_f32(vcltq_f32(v.v, low.v), low.v, v.v)};
}
ETCH_INLINE F32 at_most_f32(F32 v, F32 high) {
  return {vbslq_f32(vcltq_f32(high.v, v.v), high.v, v.v)};
}
ETCH_INLINE F32 max_f32(F32 a, F32 b) {
  const float32x4_t more = vbslq_f32(vcgtq_f32(a.v, b.v), a.v, b.v);
  return {vbslq_f32(vceqq_f32(a.v, a.v), more, a.v)};
}
ETCH_INLINE F32 min_f32(F32 a, F32 b) {
  const float32x4_t less = vbslq_f32(vcltq_f32(a.v, b.v), a.v, b.v);
  return {vbslq_f32(vceqq_f32(a.v, a.v), less, a.v)};
}
ETCH_INLINE F32 unless_negative(F32 v, F32 other) {
  return {vbslq_f32(vcgeq_f32(v.v, vdupq_n_f32(0.0f)), v.v, other.v)};
}
ETCH_INLINE F32 fall_to(F32 acc, F32 v) { return at_most_f32(acc, v); }
ETCH_INLINE F32 rise_to(F32 acc, F32 v) { return at_least_f32(acc, v); }

ETCH_INLINE F32 clamp_f32(F32 v, float lo, float hi) {
  const float32x4_t least = vdupq_n_f32(lo);
  const float32x4_t most = vdupq_n_f32(hi);
  const float32x4_t above = vbslq_f32(vcgtq_f32(v.v, least), v.v, least);
  return {vbslq_f32(vcltq_f32(above, most), above, most)};
}

ETCH_INLINE I32 round_i32(F32 v) { return {vcvtnq_s32_f32(v.v)}; }
ETCH_INLINE I32 round_away_i32(F32 v) { return {vcvtaq_s32_f32(v.v)}; }

ETCH_INLINE I32 scale_round(I32 acc, F32 s) {
  return {vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(acc.v), s.v))};
}

// The product is a number, and the sign of a zero does not matter.
ETCH_INLINE I32 scale_clamp_round(I32 acc, F32 s, float lo, float hi) {
  const float32x4_t product = vmulq_f32(vcvtq_f32_s32(acc.v), s.v);
  return {vcvtnq_s32_f32(vminq_f32(vmaxq_f32(product, vdupq_n_f32(lo)), vdupq_n_f32(hi)))};
}

ETCH_INLINE void store_f32_n(float* p, F32 v, int n) {
  store_lanes_n(p, vreinterpretq_u8_f32(v.v), n);
}
ETCH_INLINE void store_i32_n(int32_t* p, I32 v, int n) {
  store_lanes_n(p, vreinterpretq_u8_s32(v.v), n);
}

// ---- requantization without floats ----

// Two lanes of 64 bits, from halves that are apart.
ETCH_INLINE int64x2_t joined_low(int32x4_t low, int32x4_t high) {
  return vreinterpretq_s64_s32(vzip1q_s32(low, high));
}
ETCH_INLINE int64x2_t joined_high(int32x4_t low, int32x4_t high) {
  return vreinterpretq_s64_s32(vzip2q_s32(low, high));
}

ETCH_INLINE I32 multiply_high(I32 acc, const int32_t* p) {
  const int32x4_t m = vld1q_s32(p);
  const int32x4_t low = vld1q_s32(p + 4);
  const int32x4_t high = vld1q_s32(p + 8);
  const int64x2_t v01 = vmlal_s32(joined_low(low, high), vget_low_s32(acc.v), vget_low_s32(m));
  const int64x2_t v23 = vmlal_high_s32(joined_high(low, high), acc.v, m);
  const int32x4_t q = vuzp2q_s32(vreinterpretq_s32_s64(v01), vreinterpretq_s32_s64(v23));
  return {vshlq_s32(q, vnegq_s32(vld1q_s32(p + 12)))};
}

// rt::multiply_shift() on two lanes: `right` is the shift, negative.
ETCH_INLINE int32x2_t shifted(int64x2_t product, int64x2_t offset, int64x2_t right, int64x2_t odd) {
  const int64x2_t parity = vandq_s64(vshlq_s64(product, right), vdupq_n_s64(1));
  const int64x2_t more = vandq_s64(vnegq_s64(parity), odd);
  return vmovn_s64(vshlq_s64(vaddq_s64(vaddq_s64(product, offset), more), right));
}

ETCH_INLINE I32 multiply_shift(I32 acc, const int32_t* p) {
  const int32x4_t m = vld1q_s32(p);
  const int32x4_t low = vld1q_s32(p + 4);
  const int32x4_t high = vld1q_s32(p + 8);
  const int32x4_t right = vnegq_s32(vld1q_s32(p + 12));
  const int32x4_t odd = vld1q_s32(p + 16);
  return {
      vcombine_s32(shifted(vmull_s32(vget_low_s32(acc.v), vget_low_s32(m)), joined_low(low, high),
                           vmovl_s32(vget_low_s32(right)), vmovl_s32(vget_low_s32(odd))),
                   shifted(vmull_high_s32(acc.v, m), joined_high(low, high), vmovl_high_s32(right),
                           vmovl_high_s32(odd)))};
}

ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) {
  const int32x4_t right = vnegq_s32(vld1q_s32(p + 4));
  const int32x4_t odd = vandq_s32(vshlq_s32(acc.v, right), vdupq_n_s32(1));
  return {vshlq_s32(vaddq_s32(acc.v, vaddq_s32(vld1q_s32(p), odd)), right)};
}

}  // namespace neon
}  // namespace etch
