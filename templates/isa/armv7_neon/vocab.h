// The verbs of generated code for 32-bit Arm with NEON: one vector is 4 int32 or 16 bytes. Every
// verb has the same meaning on every instruction set, down to rounding and saturation. Products are
// those of 16-bit words, four in one instruction (vmlal.s16): weights come as words, activations
// are widened when they are loaded.
//
// Float arithmetic of NEON takes subnormal numbers for zero, has no division, and converts to
// integers towards zero only. So it is used where subnormals cannot change a result (conversions,
// products that are rounded to integers); sums, products and quotients of floats go lane by lane
// through the VFP, which follows FPSCR: it must say "round to nearest" and keep subnormals, as it
// does unless a program changes it. Comparisons are those of integers. n, first, zp and stride are
// meant to be literals, so that choosing between forms costs nothing.
#pragma once

#if !defined(__arm__) || !defined(__ARM_NEON)
#error "etch: compile this file for 32-bit Arm with -mfpu=neon"
#endif

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_by_lanes.h"
#include "etch_float.h"  // macros; also refuses -ffast-math
#include "etch_neon_base.h"

#if defined(__ARM_BIG_ENDIAN)
#error "etch: 32-bit Arm in big-endian order takes the target scalar"
#endif

namespace etch {
namespace armv7_neon {

using namespace neon;

// Four bytes for every lane, in 16 bits each: products take them from here one by one.
struct X4 {
  int16x4_t v;
};
// Byte k of each of 4 lanes, in 16 bits.
struct Lanes4 {
  int16x4_t k0, k1, k2, k3;
};
struct W4 {
  int16x4_t k0, k1, k2, k3;
};
struct QuadX {
  Lanes4 v0, v1, v2, v3;
};

// The same value, of unknown origin to the compiler: not fused with a later addition, nor put
// together with its neighbours into an instruction of NEON.
ETCH_INLINE float opaque(float v) {
  __asm__("" : "+t"(v));
  return v;
}

// ---- parts of a register ----

// n < 8 bytes, the rest 0.
ETCH_INLINE uint64_t load_word_n(const uint8_t* p, int n) {
  uint32_t low = 0;
  uint32_t rest = 0;
  int at = 0;
  if ((n & 4) != 0) {
    low = load_four(p);
    at = 4;
  }
  if ((n & 2) != 0) {
    uint16_t two;
    ETCH_MEMCPY(&two, p + at, sizeof two);
    rest = two;
  }
  if ((n & 1) != 0) rest |= static_cast<uint32_t>(p[n - 1]) << ((n & 2) != 0 ? 16 : 0);
  return (n & 4) != 0 ? low | (static_cast<uint64_t>(rest) << 32) : rest;
}

// n <= 16 bytes, the rest 0.
ETCH_INLINE uint8x16_t load_n(const uint8_t* p, int n) {
  if (n >= 16) return vld1q_u8(p);
  if (n < 8) return vcombine_u8(vcreate_u8(load_word_n(p, n)), vcreate_u8(0));
  return vcombine_u8(vld1_u8(p), vcreate_u8(n == 8 ? 0 : load_word_n(p + 8, n - 8)));
}

// The first n < 8 bytes of a word.
ETCH_INLINE void store_word_n(uint8_t* p, uint8x8_t v, int n) {
  const uint64_t word = vget_lane_u64(vreinterpret_u64_u8(v), 0);
  uint32_t rest = static_cast<uint32_t>(word);
  if ((n & 4) != 0) {
    ETCH_MEMCPY(p, &rest, sizeof rest);
    p += 4;
    rest = static_cast<uint32_t>(word >> 32);
  }
  if ((n & 2) != 0) {
    const uint16_t two = static_cast<uint16_t>(rest);
    ETCH_MEMCPY(p, &two, sizeof two);
    p += 2;
    rest >>= 16;
  }
  if ((n & 1) != 0) *p = static_cast<uint8_t>(rest);
}

// The first n <= 16 bytes.
ETCH_INLINE void store_n(uint8_t* p, uint8x16_t v, int n) {
  if (n >= 16) {
    vst1q_u8(p, v);
  } else if (n < 8) {
    store_word_n(p, vget_low_u8(v), n);
  } else {
    vst1_u8(p, vget_low_u8(v));
    if (n > 8) store_word_n(p + 8, vget_high_u8(v), n - 8);
  }
}

// Bytes from wherever `index` says, 0 where it is 16 or more.
ETCH_INLINE uint8x16_t looked_up(uint8x16_t v, uint8x16_t index) {
  const uint8x8x2_t table = {{vget_low_u8(v), vget_high_u8(v)}};
  return vcombine_u8(vtbl2_u8(table, vget_low_u8(index)), vtbl2_u8(table, vget_high_u8(index)));
}
ETCH_INLINE Bytes shuffled(Bytes b, uint64_t low_index, uint64_t high_index) {
  return {looked_up(b.v, vcombine_u8(vcreate_u8(low_index), vcreate_u8(high_index)))};
}

// ---- integers and products ----

ETCH_INLINE I32 load_u8(const uint8_t* p) {
  return widened(vreinterpret_u8_u32(vdup_n_u32(load_four(p))));
}
ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) {
  return widened(vcreate_u8(load_word_n(p, n)));
}
ETCH_INLINE I32 load_i32_n(const int32_t* p, int n) {
  return {vreinterpretq_s32_u8(load_n(reinterpret_cast<const uint8_t*>(p), 4 * n))};
}

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  const uint8x8_t four = vreinterpret_u8_u32(vdup_n_u32(load_four(x)));
  return {vreinterpret_s16_u16(vget_low_u16(vmovl_u8(four)))};
}

// No kernel asks for it where a vector has 4 lanes: their products with two groups of bytes take
// the form of interleave4's.
ETCH_INLINE Lanes4 broadcast8(const uint8_t* x) {
  const uint8x16_t by_lane = vcombine_u8(vld1_u8(x), vld1_u8(x));
  const uint8x16_t by_byte = shuffled({by_lane}, 0x0D0905010C080400u, 0x0F0B07030E0A0602u).v;
  const int16x8_t k01 = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(by_byte)));
  const int16x8_t k23 = vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(by_byte)));
  return {vget_low_s16(k01), vget_high_s16(k01), vget_low_s16(k23), vget_high_s16(k23)};
}

// Pairs of bytes 0 and 2 of each lane, then of bytes 1 and 3: taken apart by the load.
ETCH_INLINE W4 load_w4(const uint8_t* w) {
  const int16x8x2_t pairs = vld2q_s16(static_cast<const int16_t*>(static_cast<const void*>(w)));
  return {vget_low_s16(pairs.val[0]), vget_high_s16(pairs.val[0]), vget_low_s16(pairs.val[1]),
          vget_high_s16(pairs.val[1])};
}
ETCH_INLINE W4 load_byte_w4(const uint8_t* w) {
  const int8x8x2_t pairs = vld2_s8(static_cast<const int8_t*>(static_cast<const void*>(w)));
  const int16x8_t first = vmovl_s8(pairs.val[0]), second = vmovl_s8(pairs.val[1]);
  return {vget_low_s16(first), vget_high_s16(first), vget_low_s16(second), vget_high_s16(second)};
}

ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  int32x4_t sum = vmlal_lane_s16(acc.v, w.k0, x.v, 0);
  sum = vmlal_lane_s16(sum, w.k2, x.v, 2);
  sum = vmlal_lane_s16(sum, w.k1, x.v, 1);
  return {vmlal_lane_s16(sum, w.k3, x.v, 3)};
}

ETCH_INLINE I32 dot4(I32 acc, Lanes4 x, W4 w) {
  int32x4_t sum = vmlal_s16(acc.v, x.k0, w.k0);
  sum = vmlal_s16(sum, x.k1, w.k1);
  sum = vmlal_s16(sum, x.k2, w.k2);
  return {vmlal_s16(sum, x.k3, w.k3)};
}

ETCH_INLINE I32 add_pairs(I32 a, I32 b) {
  const int32x4x2_t pairs = vtrnq_s32(a.v, b.v);
  return {vaddq_s32(pairs.val[0], pairs.val[1])};
}

// ---- bytes ----

ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) { return {load_n(p, n)}; }

// Single words are set; otherwise the bytes are moved to their place.
ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  if (n == 8 && first == 0) return {vcombine_u8(vld1_u8(p), vget_high_u8(b.v))};
  if (n == 8 && first == 8) return {vcombine_u8(vget_low_u8(b.v), vld1_u8(p))};
  if (n == 4 && first % 4 == 0) {
    const uint32_t four = load_four(p);
    const uint32x4_t words = vreinterpretq_u32_u8(b.v);
    if (first == 0) return {vreinterpretq_u8_u32(vsetq_lane_u32(four, words, 0))};
    if (first == 4) return {vreinterpretq_u8_u32(vsetq_lane_u32(four, words, 1))};
    if (first == 8) return {vreinterpretq_u8_u32(vsetq_lane_u32(four, words, 2))};
    return {vreinterpretq_u8_u32(vsetq_lane_u32(four, words, 3))};
  }
  const uint8x16_t place =
      vcombine_u8(vcreate_u8(0x0706050403020100u), vcreate_u8(0x0F0E0D0C0B0A0908u));
  const uint8x16_t source = vsubq_u8(place, vdupq_n_u8(static_cast<uint8_t>(first)));
  const uint8x16_t here = vcltq_u8(source, vdupq_n_u8(static_cast<uint8_t>(n)));
  return {vbslq_u8(here, looked_up(load_n(p, n), source), b.v)};
}

ETCH_INLINE Bytes every_second(Bytes a, Bytes b, int n) {
  if (n == 8) return {vcombine_u8(vget_low_u8(a.v), vget_low_u8(b.v))};
  if (n == 4) {
    return {vreinterpretq_u8_u32(
        vuzpq_u32(vreinterpretq_u32_u8(a.v), vreinterpretq_u32_u8(b.v)).val[0])};
  }
  return {
      vreinterpretq_u8_u16(vuzpq_u16(vreinterpretq_u16_u8(a.v), vreinterpretq_u16_u8(b.v)).val[0])};
}

ETCH_INLINE int16x8_t low_words(Bytes b) {
  return vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(b.v)));
}
ETCH_INLINE int16x8_t high_words(Bytes b) {
  return vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(b.v)));
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const int16x8_t a0 = low_words(r0), a1 = low_words(r1), a2 = low_words(r2), a3 = low_words(r3);
  const int16x8_t b0 = high_words(r0), b1 = high_words(r1);
  const int16x8_t b2 = high_words(r2), b3 = high_words(r3);
  return {{vget_low_s16(a0), vget_low_s16(a1), vget_low_s16(a2), vget_low_s16(a3)},
          {vget_high_s16(a0), vget_high_s16(a1), vget_high_s16(a2), vget_high_s16(a3)},
          {vget_low_s16(b0), vget_low_s16(b1), vget_low_s16(b2), vget_low_s16(b3)},
          {vget_high_s16(b0), vget_high_s16(b1), vget_high_s16(b2), vget_high_s16(b3)}};
}

ETCH_INLINE I32 wide(uint16x4_t v) { return {vreinterpretq_s32_u32(vmovl_u16(v))}; }

ETCH_INLINE QuadI widen4(Bytes b) {
  const uint16x8_t low = vmovl_u8(vget_low_u8(b.v));
  const uint16x8_t high = vmovl_u8(vget_high_u8(b.v));
  return {wide(vget_low_u16(low)), wide(vget_high_u16(low)), wide(vget_low_u16(high)),
          wide(vget_high_u16(high))};
}

ETCH_INLINE Bytes narrow4(I32 v0, I32 v1, I32 v2, I32 v3, int zp) {
  const int16x8_t offset = vdupq_n_s16(static_cast<int16_t>(zp));
  const int16x8_t v01 = vcombine_s16(vqmovn_s32(v0.v), vqmovn_s32(v1.v));
  const int16x8_t v23 = vcombine_s16(vqmovn_s32(v2.v), vqmovn_s32(v3.v));
  return {vcombine_u8(vqmovun_s16(vqaddq_s16(v01, offset)), vqmovun_s16(vqaddq_s16(v23, offset)))};
}

// The indices of bytes, the first one lowest.
ETCH_INLINE Bytes interleave(Bytes b, int n) {
  if (n == 2) return shuffled(b, 0x0703060205010400u, 0x0F0E0D0C0B0A0908u);
  if (n == 3) return shuffled(b, 0x0602090501080400u, 0x0F0E0D0C0B07030Au);
  return shuffled(b, 0x0D0905010C080400u, 0x0F0B07030E0A0602u);
}

ETCH_INLINE Bytes unzip(Bytes b) { return shuffled(b, 0x0705060403010200u, 0x0F0D0E0C0B090A08u); }

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

ETCH_INLINE F32 load_f32_n(const float* p, int n) {
  return {vreinterpretq_f32_u8(load_n(reinterpret_cast<const uint8_t*>(p), 4 * n))};
}

ETCH_INLINE F32 lanes(float v0, float v1, float v2, float v3) {
  float32x4_t v = vdupq_n_f32(v0);
  v = vsetq_lane_f32(v1, v, 1);
  v = vsetq_lane_f32(v2, v, 2);
  return {vsetq_lane_f32(v3, v, 3)};
}

ETCH_INLINE F32 mul_f32(F32 a, F32 b) {
  return lanes(opaque(vgetq_lane_f32(a.v, 0) * vgetq_lane_f32(b.v, 0)),
               opaque(vgetq_lane_f32(a.v, 1) * vgetq_lane_f32(b.v, 1)),
               opaque(vgetq_lane_f32(a.v, 2) * vgetq_lane_f32(b.v, 2)),
               opaque(vgetq_lane_f32(a.v, 3) * vgetq_lane_f32(b.v, 3)));
}
ETCH_INLINE F32 add_f32(F32 a, F32 b) {
  return lanes(opaque(vgetq_lane_f32(a.v, 0) + vgetq_lane_f32(b.v, 0)),
               opaque(vgetq_lane_f32(a.v, 1) + vgetq_lane_f32(b.v, 1)),
               opaque(vgetq_lane_f32(a.v, 2) + vgetq_lane_f32(b.v, 2)),
               opaque(vgetq_lane_f32(a.v, 3) + vgetq_lane_f32(b.v, 3)));
}
ETCH_INLINE F32 sub_f32(F32 a, F32 b) {
  return lanes(opaque(vgetq_lane_f32(a.v, 0) - vgetq_lane_f32(b.v, 0)),
               opaque(vgetq_lane_f32(a.v, 1) - vgetq_lane_f32(b.v, 1)),
               opaque(vgetq_lane_f32(a.v, 2) - vgetq_lane_f32(b.v, 2)),
               opaque(vgetq_lane_f32(a.v, 3) - vgetq_lane_f32(b.v, 3)));
}
ETCH_INLINE F32 div_f32(F32 a, F32 b) {
  return lanes(opaque(vgetq_lane_f32(a.v, 0) / vgetq_lane_f32(b.v, 0)),
               opaque(vgetq_lane_f32(a.v, 1) / vgetq_lane_f32(b.v, 1)),
               opaque(vgetq_lane_f32(a.v, 2) / vgetq_lane_f32(b.v, 2)),
               opaque(vgetq_lane_f32(a.v, 3) / vgetq_lane_f32(b.v, 3)));
}
// Not every CPU has an instruction for it: lane by lane, exactly, and out of line, because it is
// long.
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) { return by_lanes::fma_f32(a, b, c); }
ETCH_INLINE F32 add_into(F32 acc, F32 v) { return add_f32(acc, v); }

ETCH_INLINE F32 abs_f32(F32 v) {
  return {vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v.v), vdupq_n_u32(0x7fffffffu)))};
}
ETCH_INLINE F32 neg_f32(F32 v) {
  return {vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(v.v), vdupq_n_u32(0x80000000u)))};
}

// An integer for every float, in the same order; the same one for both zeros.
ETCH_INLINE int32x4_t order_of(F32 v) {
  const int32x4_t sign = vshrq_n_s32(vreinterpretq_s32_f32(v.v), 31);
  return vsubq_s32(veorq_s32(vreinterpretq_s32_f32(abs_f32(v).v), sign), sign);
}
ETCH_INLINE uint32x4_t is_nan(F32 v) {
  return vcgtq_s32(vreinterpretq_s32_f32(abs_f32(v).v), vdupq_n_s32(0x7f800000));
}
// Where a < b, for which neither may be NaN.
ETCH_INLINE uint32x4_t is_less(F32 a, F32 b) {
  return vbicq_u32(vcltq_s32(order_of(a), order_of(b)), vorrq_u32(is_nan(a), is_nan(b)));
}
ETCH_INLINE F32 chosen(uint32x4_t first, F32 a, F32 b) { return {vbslq_f32(first, a.v, b.v)}; }

ETCH_INLINE F32 at_least_f32(F32 v, F32 low) { return chosen(is_less(v, low), low, v); }
ETCH_INLINE F32 at_most_f32(F32 v, F32 high) { return chosen(is_less(high, v), high, v); }
ETCH_INLINE F32 max_f32(F32 a, F32 b) { return chosen(vorrq_u32(is_less(b, a), is_nan(a)), a, b); }
ETCH_INLINE F32 min_f32(F32 a, F32 b) { return chosen(vorrq_u32(is_less(a, b), is_nan(a)), a, b); }
ETCH_INLINE F32 unless_negative(F32 v, F32 other) {
  const uint32x4_t negative = vcltq_s32(order_of(v), vdupq_n_s32(0));
  return chosen(vorrq_u32(negative, is_nan(v)), other, v);
}
ETCH_INLINE F32 fall_to(F32 acc, F32 v) { return at_most_f32(acc, v); }
ETCH_INLINE F32 rise_to(F32 acc, F32 v) { return at_least_f32(acc, v); }

// NaN is not greater than lo.
ETCH_INLINE F32 clamp_f32(F32 v, float lo, float hi) {
  const F32 least = splat_f32(lo);
  const F32 above = chosen(is_less(least, v), v, least);
  return chosen(is_less(above, splat_f32(hi)), above, splat_f32(hi));
}

// |v| < 2^22: in a sum with 1.5 * 2^23 the last bits are the rounded integer.
ETCH_INLINE int32x4_t round_small(float32x4_t v) {
  const float32x4_t sum = vaddq_f32(v, vdupq_n_f32(12582912.0f));
  return vsubq_s32(vreinterpretq_s32_f32(sum), vdupq_n_s32(0x4b400000));
}

// A float from 2^23 on is an integer, and becomes one when 2^23 of its sign is added for a moment.
ETCH_INLINE I32 round_i32(F32 v) {
  const float32x4_t large = vdupq_n_f32(8388608.0f);
  const float32x4_t signed_large = vbslq_f32(vdupq_n_u32(0x80000000u), v.v, large);
  const float32x4_t whole = vsubq_f32(vaddq_f32(v.v, signed_large), signed_large);
  return {vcvtq_s32_f32(vbslq_f32(vcaltq_f32(v.v, large), whole, v.v))};
}

// The float just below 1/2 moves every tie, and nothing else, over the next integer.
ETCH_INLINE I32 round_away_i32(F32 v) {
  const float32x4_t half = vbslq_f32(vdupq_n_u32(0x80000000u), v.v, vdupq_n_f32(0x1.fffffep-2f));
  return {vcvtq_s32_f32(vaddq_f32(v.v, half))};
}

// A subnormal scale gives 0, as zero does: products with it are below 1/2.
ETCH_INLINE I32 scale_round(I32 acc, F32 s) {
  return round_i32({vmulq_f32(vcvtq_f32_s32(acc.v), s.v)});
}

// The product is a number, and the sign of a zero does not matter.
ETCH_INLINE I32 scale_clamp_round(I32 acc, F32 s, float lo, float hi) {
  const float32x4_t product = vmulq_f32(vcvtq_f32_s32(acc.v), s.v);
  const float32x4_t clamped = vminq_f32(vmaxq_f32(product, vdupq_n_f32(lo)), vdupq_n_f32(hi));
  if (lo > -4194304.0f && hi < 4194304.0f) return {round_small(clamped)};
  return round_i32({clamped});
}

ETCH_INLINE void store_f32_n(float* p, F32 v, int n) {
  store_n(reinterpret_cast<uint8_t*>(p), vreinterpretq_u8_f32(v.v), 4 * n);
}
ETCH_INLINE void store_i32_n(int32_t* p, I32 v, int n) {
  store_n(reinterpret_cast<uint8_t*>(p), vreinterpretq_u8_s32(v.v), 4 * n);
}

// ---- requantization without floats ----

// Lanes 0 and 1, then lanes 2 and 3, of 64 bits, from halves that are apart.
ETCH_INLINE int64x2_t joined_low(int32x4x2_t zipped) {
  return vreinterpretq_s64_s32(zipped.val[0]);
}
ETCH_INLINE int64x2_t joined_high(int32x4x2_t zipped) {
  return vreinterpretq_s64_s32(zipped.val[1]);
}

ETCH_INLINE I32 multiply_high(I32 acc, const int32_t* p) {
  const int32x4_t m = vld1q_s32(p);
  const int32x4x2_t offset = vzipq_s32(vld1q_s32(p + 4), vld1q_s32(p + 8));
  const int64x2_t v01 = vmlal_s32(joined_low(offset), vget_low_s32(acc.v), vget_low_s32(m));
  const int64x2_t v23 = vmlal_s32(joined_high(offset), vget_high_s32(acc.v), vget_high_s32(m));
  const int32x4_t q = vuzpq_s32(vreinterpretq_s32_s64(v01), vreinterpretq_s32_s64(v23)).val[1];
  return {vshlq_s32(q, vnegq_s32(vld1q_s32(p + 12)))};
}

// rt::multiply_shift() on two lanes: `right` is the shift, negative.
ETCH_INLINE int32x2_t shifted(int64x2_t product, int64x2_t offset, int64x2_t right, int64x2_t odd) {
  const int64x2_t parity = vandq_s64(vshlq_s64(product, right), vdupq_n_s64(1));
  const int64x2_t more = vandq_s64(vsubq_s64(vdupq_n_s64(0), parity), odd);
  return vmovn_s64(vshlq_s64(vaddq_s64(vaddq_s64(product, offset), more), right));
}

ETCH_INLINE I32 multiply_shift(I32 acc, const int32_t* p) {
  const int32x4_t m = vld1q_s32(p);
  const int32x4x2_t offset = vzipq_s32(vld1q_s32(p + 4), vld1q_s32(p + 8));
  const int32x4_t right = vnegq_s32(vld1q_s32(p + 12));
  const int32x4_t odd = vld1q_s32(p + 16);
  return {
      vcombine_s32(shifted(vmull_s32(vget_low_s32(acc.v), vget_low_s32(m)), joined_low(offset),
                           vmovl_s32(vget_low_s32(right)), vmovl_s32(vget_low_s32(odd))),
                   shifted(vmull_s32(vget_high_s32(acc.v), vget_high_s32(m)), joined_high(offset),
                           vmovl_s32(vget_high_s32(right)), vmovl_s32(vget_high_s32(odd))))};
}

ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) {
  const int32x4_t right = vnegq_s32(vld1q_s32(p + 4));
  const int32x4_t odd = vandq_s32(vshlq_s32(acc.v, right), vdupq_n_s32(1));
  return {vshlq_s32(vaddq_s32(acc.v, vaddq_s32(vld1q_s32(p), odd)), right)};
}

// Kernels use these where a target asks for them.
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) { return load_w4(w); }
template <class X>
ETCH_INLINE I32 dot4_moved(I32 acc, X x, W4 w) {
  return dot4(acc, x, w);
}
ETCH_INLINE I32 dot4_lane(I32 acc, Bytes x, int group, W4 w) {
  return dot4(acc, broadcast4(by_lanes::stored(x).at + 4 * group), w);
}
ETCH_INLINE I32 dot_squares(I32 acc, Bytes x, Bytes w) { return by_lanes::dot_squares(acc, x, w); }
ETCH_INLINE Bytes repeat4(const uint8_t* x) { return by_lanes::repeat4<Bytes>(x); }
ETCH_INLINE Bytes repeat4_at(const uint8_t* x, const uint8_t* at, int) {
  return repeat4(x + by_lanes::place_at(at));
}
ETCH_INLINE I32 dot_sums16(I32 acc, Bytes x, Bytes w) { return by_lanes::dot_sums16(acc, x, w); }
ETCH_INLINE I32 low_halves(I32 a, I32 b) {
  return {vcombine_s32(vget_low_s32(a.v), vget_low_s32(b.v))};
}
ETCH_INLINE I32 high_halves(I32 a, I32 b) {
  return {vcombine_s32(vget_high_s32(a.v), vget_high_s32(b.v))};
}

}  // namespace armv7_neon
}  // namespace etch
