// The verbs of generated code for WebAssembly with 128-bit SIMD: one vector is 4 int32 or 16 bytes.
// Every verb has the same meaning on every instruction set, down to rounding and saturation. The
// only products that add up are those of 16-bit words (i32x4.dot_i16x8_s): weights come as words,
// activations are widened when they are loaded. WebAssembly always rounds to nearest even and keeps
// subnormals. n, first, zp and stride are meant to be literals, so that choosing between forms
// costs nothing.
#pragma once

#if !defined(__wasm_simd128__)
#error "etch: compile this file with -msimd128"
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wasm_simd128.h>

#include "etch_by_lanes.h"
#include "etch_float.h"  // macros; also refuses -ffast-math
#include "etch_integer.h"

namespace etch {
namespace wasm32_simd128 {

struct I32 {
  v128_t v;
};
struct F32 {
  v128_t v;
};
struct X4 {
  v128_t even, odd;
};  // bytes 0 and 2 of each lane as 16-bit words; bytes 1 and 3
struct W4 {
  v128_t even, odd;
};  // the same, signed
struct Bytes {
  v128_t v;
};
struct QuadX {
  X4 v0, v1, v2, v3;
};
struct QuadI {
  I32 v0, v1, v2, v3;
};

// The same pointer, of unknown origin to the compiler: loads remain after this point.
template <class T>
ETCH_INLINE T* base(T* p) {
  __asm__ volatile("" : "+r"(p));
  return p;
}

// The same value, in a form that no product is fused with a later addition in. Only relaxed SIMD
// has an instruction that could do it. Compilers take no vectors as operands of assembly here.
ETCH_INLINE v128_t opaque(v128_t v) {
#if defined(__wasm_relaxed_simd__)
  int32_t zero = 0;
  __asm__("" : "+r"(zero));
  return wasm_v128_xor(v, wasm_i32x4_splat(zero));
#else
  return v;
#endif
}

// ---- parts of a vector ----

using by_lanes::load_word_n;
using by_lanes::store_word_n;

ETCH_INLINE v128_t words(uint64_t low, uint64_t high) { return wasm_u64x2_make(low, high); }

// n <= 16 bytes, the rest 0.
ETCH_INLINE v128_t load_n(const uint8_t* p, int n) {
  if (n >= 16) return wasm_v128_load(p);
  if (n == 4) return wasm_v128_load32_zero(p);
  if (n < 8) return words(load_word_n(p, n), 0);
  const v128_t low = wasm_v128_load64_zero(p);
  return n == 8 ? low : wasm_u64x2_replace_lane(low, 1, load_word_n(p + 8, n - 8));
}

// The first n <= 16 bytes.
ETCH_INLINE void store_n(uint8_t* p, v128_t v, int n) {
  if (n >= 16) {
    wasm_v128_store(p, v);
  } else if (n == 4) {
    wasm_v128_store32_lane(p, v, 0);
  } else if (n < 8) {
    store_word_n(p, wasm_u64x2_extract_lane(v, 0), n);
  } else {
    wasm_v128_store64_lane(p, v, 0);
    if (n > 8) store_word_n(p + 8, wasm_u64x2_extract_lane(v, 1), n - 8);
  }
}

// Lanes of 4 bytes as dot4 wants them.
ETCH_INLINE X4 split(v128_t lanes) {
  return {wasm_v128_and(lanes, wasm_i32x4_const_splat(0x00FF00FF)), wasm_u16x8_shr(lanes, 8)};
}

// ---- integers and products ----

ETCH_INLINE I32 zero_i32() { return {wasm_i32x4_const_splat(0)}; }
ETCH_INLINE I32 splat_i32(int v) { return {wasm_i32x4_splat(v)}; }
ETCH_INLINE I32 load_i32(const int32_t* p) { return {wasm_v128_load(p)}; }

ETCH_INLINE I32 widened(v128_t four) {
  return {wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(four))};
}
ETCH_INLINE I32 load_u8(const uint8_t* p) { return widened(load_n(p, 4)); }
ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) { return widened(load_n(p, n)); }
ETCH_INLINE I32 load_i32_n(const int32_t* p, int n) {
  return {load_n(reinterpret_cast<const uint8_t*>(p), 4 * n)};
}
ETCH_INLINE I32 repeat_u8(const uint8_t* p) { return {wasm_i32x4_splat(*p)}; }

ETCH_INLINE X4 broadcast4(const uint8_t* x) { return split(wasm_v128_load32_splat(x)); }
ETCH_INLINE X4 broadcast8(const uint8_t* x) { return split(wasm_v128_load64_splat(x)); }
ETCH_INLINE W4 load_w4(const uint8_t* w) { return {wasm_v128_load(w), wasm_v128_load(w + 16)}; }
ETCH_INLINE W4 load_byte_w4(const uint8_t* w) {
  return {wasm_i16x8_load8x8(w), wasm_i16x8_load8x8(w + 8)};
}

ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  const v128_t sum = wasm_i32x4_add(acc.v, wasm_i32x4_dot_i16x8(x.even, w.even));
  return {wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(x.odd, w.odd))};
}

ETCH_INLINE I32 add_i32(I32 acc, I32 v) { return {wasm_i32x4_add(acc.v, v.v)}; }
ETCH_INLINE I32 sub_i32(I32 a, I32 b) { return {wasm_i32x4_sub(a.v, b.v)}; }

ETCH_INLINE I32 add_pairs(I32 a, I32 b) {
  return {wasm_i32x4_add(wasm_i32x4_shuffle(a.v, b.v, 0, 4, 2, 6),
                         wasm_i32x4_shuffle(a.v, b.v, 1, 5, 3, 7))};
}

// ---- bytes ----

ETCH_INLINE Bytes load_bytes(const uint8_t* p) { return {wasm_v128_load(p)}; }
ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) { return {load_n(p, n)}; }

// Single words are set; otherwise the bytes are moved to their place.
ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  if (n == 4 && first == 0) return {wasm_v128_load32_lane(p, b.v, 0)};
  if (n == 4 && first == 4) return {wasm_v128_load32_lane(p, b.v, 1)};
  if (n == 4 && first == 8) return {wasm_v128_load32_lane(p, b.v, 2)};
  if (n == 4 && first == 12) return {wasm_v128_load32_lane(p, b.v, 3)};
  if (n == 8 && first == 0) return {wasm_v128_load64_lane(p, b.v, 0)};
  if (n == 8 && first == 8) return {wasm_v128_load64_lane(p, b.v, 1)};
  const v128_t place = wasm_i8x16_const(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const v128_t source = wasm_i8x16_sub(place, wasm_i8x16_splat(static_cast<int8_t>(first)));
  const v128_t here = wasm_u8x16_lt(source, wasm_u8x16_splat(static_cast<uint8_t>(n)));
  return {wasm_v128_bitselect(wasm_i8x16_swizzle(load_n(p, n), source), b.v, here)};
}

ETCH_INLINE Bytes broadcast_bytes(const uint8_t* x) { return {wasm_v128_load8_splat(x)}; }
ETCH_INLINE Bytes splat_bytes(int v) { return {wasm_u8x16_splat(static_cast<uint8_t>(v))}; }
ETCH_INLINE Bytes max_bytes(Bytes a, Bytes b) { return {wasm_u8x16_max(a.v, b.v)}; }
ETCH_INLINE Bytes max_into(Bytes acc, Bytes v) { return max_bytes(acc, v); }
ETCH_INLINE Bytes min_bytes(Bytes a, Bytes b) { return {wasm_u8x16_min(a.v, b.v)}; }
ETCH_INLINE Bytes xor_bytes(Bytes a, Bytes b) { return {wasm_v128_xor(a.v, b.v)}; }

ETCH_INLINE Bytes every_second(Bytes a, Bytes b, int n) {
  if (n == 8) return {wasm_i64x2_shuffle(a.v, b.v, 0, 2)};
  if (n == 4) return {wasm_i32x4_shuffle(a.v, b.v, 0, 2, 4, 6)};
  return {wasm_i16x8_shuffle(a.v, b.v, 0, 2, 4, 6, 8, 10, 12, 14)};
}

ETCH_INLINE v128_t unpack_low(v128_t a, v128_t b) {
  return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
ETCH_INLINE v128_t unpack_high(v128_t a, v128_t b) {
  return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const v128_t low01 = unpack_low(r0.v, r1.v);
  const v128_t high01 = unpack_high(r0.v, r1.v);
  const v128_t low23 = unpack_low(r2.v, r3.v);
  const v128_t high23 = unpack_high(r2.v, r3.v);
  return {split(wasm_i16x8_shuffle(low01, low23, 0, 8, 1, 9, 2, 10, 3, 11)),
          split(wasm_i16x8_shuffle(low01, low23, 4, 12, 5, 13, 6, 14, 7, 15)),
          split(wasm_i16x8_shuffle(high01, high23, 0, 8, 1, 9, 2, 10, 3, 11)),
          split(wasm_i16x8_shuffle(high01, high23, 4, 12, 5, 13, 6, 14, 7, 15))};
}

ETCH_INLINE QuadI widen4(Bytes b) {
  const v128_t low = wasm_u16x8_extend_low_u8x16(b.v);
  const v128_t high = wasm_u16x8_extend_high_u8x16(b.v);
  return {{wasm_u32x4_extend_low_u16x8(low)},
          {wasm_u32x4_extend_high_u16x8(low)},
          {wasm_u32x4_extend_low_u16x8(high)},
          {wasm_u32x4_extend_high_u16x8(high)}};
}

ETCH_INLINE Bytes narrow4(I32 v0, I32 v1, I32 v2, I32 v3, int zp) {
  const v128_t offset = wasm_i16x8_splat(static_cast<int16_t>(zp));
  const v128_t v01 = wasm_i16x8_add_sat(wasm_i16x8_narrow_i32x4(v0.v, v1.v), offset);
  const v128_t v23 = wasm_i16x8_add_sat(wasm_i16x8_narrow_i32x4(v2.v, v3.v), offset);
  return {wasm_u8x16_narrow_i16x8(v01, v23)};
}

// With 4 lanes the in-lane order is already each of these.
ETCH_INLINE Bytes arrange1(Bytes b) { return b; }
ETCH_INLINE Bytes arrange2(Bytes b) { return b; }
ETCH_INLINE Bytes arrange3(Bytes b) { return b; }

ETCH_INLINE QuadI natural4(I32 v0, I32 v1, I32 v2, I32 v3) { return {v0, v1, v2, v3}; }

ETCH_INLINE Bytes interleave(Bytes b, int n) {
  if (n == 2) {
    return {wasm_i8x16_shuffle(b.v, b.v, 0, 4, 1, 5, 2, 6, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15)};
  }
  if (n == 3) {
    return {wasm_i8x16_shuffle(b.v, b.v, 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 13, 14, 15)};
  }
  return {wasm_i8x16_shuffle(b.v, b.v, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)};
}

ETCH_INLINE Bytes unzip(Bytes b) {
  return {wasm_i8x16_shuffle(b.v, b.v, 0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15)};
}

ETCH_INLINE void store_bytes(uint8_t* p, Bytes b) { wasm_v128_store(p, b.v); }

ETCH_INLINE void store_slice(uint8_t* p, Bytes b, int first, int n) {
  if (first == 0) {
    store_n(p, b.v, n);
  } else if (first == 4) {
    store_n(p, wasm_i32x4_shuffle(b.v, b.v, 1, 2, 3, 3), n);
  } else if (first == 8) {
    store_n(p, wasm_i32x4_shuffle(b.v, b.v, 2, 3, 3, 3), n);
  } else if (first == 12) {
    store_n(p, wasm_i32x4_shuffle(b.v, b.v, 3, 3, 3, 3), n);
  } else {
    uint8_t all[16];
    wasm_v128_store(all, b.v);
    ETCH_MEMCPY(p, all + first, static_cast<size_t>(n));
  }
}

ETCH_INLINE void store_spread(uint8_t* p, Bytes b, int stride, int n) {
  uint8_t all[16];
  wasm_v128_store(all, b.v);
  for (int i = 0; i < n; ++i) p[static_cast<ptrdiff_t>(i) * stride] = all[i];
}

// ---- floats ----

ETCH_INLINE F32 splat_f32(float v) { return {wasm_f32x4_splat(v)}; }
ETCH_INLINE F32 repeat_f32(const float* p) { return {wasm_v128_load32_splat(p)}; }
ETCH_INLINE F32 load_f32(const float* p) { return {wasm_v128_load(p)}; }
ETCH_INLINE F32 load_f32_n(const float* p, int n) {
  return {load_n(reinterpret_cast<const uint8_t*>(p), 4 * n)};
}
ETCH_INLINE F32 to_f32(I32 v) { return {wasm_f32x4_convert_i32x4(v.v)}; }
ETCH_INLINE F32 mul_f32(F32 a, F32 b) { return {opaque(wasm_f32x4_mul(a.v, b.v))}; }
ETCH_INLINE F32 add_f32(F32 a, F32 b) { return {opaque(wasm_f32x4_add(a.v, b.v))}; }
ETCH_INLINE F32 add_into(F32 acc, F32 v) { return add_f32(acc, v); }
ETCH_INLINE F32 sub_f32(F32 a, F32 b) { return {opaque(wasm_f32x4_sub(a.v, b.v))}; }
ETCH_INLINE F32 div_f32(F32 a, F32 b) { return {wasm_f32x4_div(a.v, b.v)}; }
ETCH_INLINE F32 abs_f32(F32 v) { return {wasm_f32x4_abs(v.v)}; }
ETCH_INLINE F32 neg_f32(F32 v) { return {wasm_f32x4_neg(v.v)}; }

// pmax(a, b) is a < b ? b : a, and pmin(a, b) is b < a ? b : a.
ETCH_INLINE F32 at_least_f32(F32 v, F32 low) { return {wasm_f32x4_pmax(v.v, low.v)}; }
ETCH_INLINE F32 at_most_f32(F32 v, F32 high) { return {wasm_f32x4_pmin(v.v, high.v)}; }
ETCH_INLINE F32 max_f32(F32 a, F32 b) {
  return {wasm_v128_bitselect(wasm_f32x4_pmax(b.v, a.v), a.v, wasm_f32x4_eq(a.v, a.v))};
}
ETCH_INLINE F32 min_f32(F32 a, F32 b) {
  return {wasm_v128_bitselect(wasm_f32x4_pmin(b.v, a.v), a.v, wasm_f32x4_eq(a.v, a.v))};
}
ETCH_INLINE F32 unless_negative(F32 v, F32 other) {
  return {wasm_v128_bitselect(v.v, other.v, wasm_f32x4_ge(v.v, wasm_f32x4_const_splat(0.0f)))};
}
ETCH_INLINE F32 fall_to(F32 acc, F32 v) { return at_most_f32(acc, v); }
ETCH_INLINE F32 rise_to(F32 acc, F32 v) { return at_least_f32(acc, v); }

// There is no instruction for it: lane by lane, exactly, and out of line, because it is long.
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) { return by_lanes::fma_f32(a, b, c); }

// In this order of operands NaN becomes lo.
ETCH_INLINE F32 clamp_f32(F32 v, float lo, float hi) {
  return {wasm_f32x4_pmin(wasm_f32x4_splat(hi), wasm_f32x4_pmax(wasm_f32x4_splat(lo), v.v))};
}

ETCH_INLINE I32 trunc_i32(F32 v) { return {wasm_i32x4_trunc_sat_f32x4(v.v)}; }
ETCH_INLINE I32 round_i32(F32 v) { return trunc_i32({wasm_f32x4_nearest(v.v)}); }

// The float just below 1/2 moves every tie, and nothing else, over the next integer.
ETCH_INLINE I32 round_away_i32(F32 v) {
  const v128_t sign = wasm_v128_and(v.v, wasm_f32x4_const_splat(-0.0f));
  const v128_t half = wasm_v128_or(sign, wasm_f32x4_const_splat(0x1.fffffep-2f));
  return trunc_i32({wasm_f32x4_add(v.v, half)});
}

ETCH_INLINE I32 scale_round(I32 acc, F32 s) {
  return round_i32({wasm_f32x4_mul(wasm_f32x4_convert_i32x4(acc.v), s.v)});
}

ETCH_INLINE I32 scale_clamp_round(I32 acc, F32 s, float lo, float hi) {
  return round_i32(clamp_f32({wasm_f32x4_mul(wasm_f32x4_convert_i32x4(acc.v), s.v)}, lo, hi));
}

ETCH_INLINE void store_i32(int32_t* p, I32 v) { wasm_v128_store(p, v.v); }
ETCH_INLINE void store_f32(float* p, F32 v) { wasm_v128_store(p, v.v); }
ETCH_INLINE void store_f32_n(float* p, F32 v, int n) {
  store_n(reinterpret_cast<uint8_t*>(p), v.v, 4 * n);
}
ETCH_INLINE void store_i32_n(int32_t* p, I32 v, int n) {
  store_n(reinterpret_cast<uint8_t*>(p), v.v, 4 * n);
}

// ---- requantization without floats ----

// 64-bit sums of lanes 0 and 1, 2 and 3; there is no shift by lanes: they go one by one.
ETCH_INLINE I32 multiply_high(I32 acc, const int32_t* p) {
  const v128_t m = wasm_v128_load(p);
  const v128_t low = wasm_v128_load(p + 4);
  const v128_t high = wasm_v128_load(p + 8);
  const v128_t v01 = wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(acc.v, m),
                                    wasm_i32x4_shuffle(low, high, 0, 4, 1, 5));
  const v128_t v23 = wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(acc.v, m),
                                    wasm_i32x4_shuffle(low, high, 2, 6, 3, 7));
  const v128_t q = wasm_i32x4_shuffle(v01, v23, 1, 3, 5, 7);
  return {wasm_i32x4_make(
      wasm_i32x4_extract_lane(q, 0) >> p[12], wasm_i32x4_extract_lane(q, 1) >> p[13],
      wasm_i32x4_extract_lane(q, 2) >> p[14], wasm_i32x4_extract_lane(q, 3) >> p[15])};
}

// Rare forms, lane by lane.
ETCH_INLINE I32 multiply_shift(I32 acc, const int32_t* p) {
  int32_t sum[4], result[4];
  store_i32(sum, acc);
  rt::multiply_shift_lanes(sum, p, result, 4);
  return {wasm_v128_load(result)};
}

// Shifts of lanes by their own numbers are not in this instruction set.
ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) { return by_lanes::shift_to_even(acc, p); }

ETCH_INLINE I32 correct_where(I32 q, I32 acc, const int32_t* p) {
  const v128_t here = wasm_i32x4_eq(acc.v, wasm_v128_load(p));
  return {wasm_i32x4_add(q.v, wasm_v128_and(here, wasm_v128_load(p + 4)))};
}

ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  return by_lanes::float_product(q, acc, p);
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
ETCH_INLINE I32 low_halves(I32 a, I32 b) { return {wasm_i64x2_shuffle(a.v, b.v, 0, 2)}; }
ETCH_INLINE I32 high_halves(I32 a, I32 b) { return {wasm_i64x2_shuffle(a.v, b.v, 1, 3)}; }

}  // namespace wasm32_simd128
}  // namespace etch
