// The verbs of generated code for x86-64 with SSE4.1: one vector is 4 int32 or 16 bytes. Every
// verb has the same meaning on every instruction set, down to rounding and saturation. Products
// are exact: pmaddubsw would saturate sums of two products to 16 bits, so bytes are widened to 16
// bits and multiplied by pmaddwd, except where weights are proved to fit (dot_sums16). Conversions
// follow MXCSR, which must say "round to nearest". n, first, zp and stride are meant to be
// literals, so that choosing between forms costs nothing.
#pragma once

#if defined(__GNUC__) && !defined(__SSE4_1__)
#error "etch: compile this file with -msse4.1"
#endif

#include "etch_by_lanes.h"
#include "etch_float.h"  // exact fma
#include "etch_integer.h"
#include "etch_x86.h"

namespace etch {
namespace sse41 {

using namespace x86;

struct I32 {
  __m128i v;
};
struct F32 {
  __m128 v;
};
struct X4 {
  __m128i even, odd;
};  // bytes 0 and 2 of each lane as 16-bit words; bytes 1 and 3
struct W4 {
  __m128i even, odd;
};  // the same, signed
struct Bytes {
  __m128i v;
};
struct QuadX {
  X4 v0, v1, v2, v3;
};
struct QuadI {
  I32 v0, v1, v2, v3;
};

// The same value, of unknown origin to the compiler: a product that went through here cannot be
// fused with a later addition, and a sum cannot be reordered.
ETCH_INLINE __m128 opaque(__m128 v) {
#if defined(__GNUC__)
  __asm__("" : "+x"(v));
#endif
  return v;
}
ETCH_INLINE __m128i opaque(__m128i v) {
#if defined(__GNUC__)
  __asm__("" : "+x"(v));
#endif
  return v;
}

ETCH_INLINE __m128i load_vector(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
ETCH_INLINE __m128i load_aligned(const void* p) {
  return _mm_load_si128(static_cast<const __m128i*>(p));
}
ETCH_INLINE void store_vector(void* p, __m128i v) { _mm_storeu_si128(static_cast<__m128i*>(p), v); }

// Lanes of 4 bytes as dot4 wants them.
ETCH_INLINE X4 split(__m128i lanes) {
  return {_mm_and_si128(lanes, _mm_set1_epi32(0x00FF00FF)), _mm_srli_epi16(lanes, 8)};
}

// ---- integers and products ----

ETCH_INLINE I32 zero_i32() { return {_mm_setzero_si128()}; }
ETCH_INLINE I32 splat_i32(int v) { return {_mm_set1_epi32(v)}; }
ETCH_INLINE I32 load_i32(const int32_t* p) { return {load_aligned(p)}; }

ETCH_INLINE I32 load_u8(const uint8_t* p) { return {_mm_cvtepu8_epi32(load_xmm_n(p, 4))}; }
ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) { return {_mm_cvtepu8_epi32(load_xmm_n(p, n))}; }

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  int32_t four;
  ETCH_MEMCPY(&four, x, sizeof four);
  return split(_mm_set1_epi32(four));
}

ETCH_INLINE X4 broadcast8(const uint8_t* x) {
  const __m128i low = load_xmm_n(x, 8);
  return split(_mm_unpacklo_epi64(low, low));
}

ETCH_INLINE W4 load_w4(const uint8_t* w) { return {load_aligned(w), load_aligned(w + 16)}; }
ETCH_INLINE W4 load_byte_w4(const uint8_t* w) {
  return {_mm_cvtepi8_epi16(load_xmm_n(w, 8)), _mm_cvtepi8_epi16(load_xmm_n(w + 8, 8))};
}

// Left alone, compilers gather all products of a tile and add them up last, far beyond the number
// of registers: hence opaque().
ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  const __m128i sum = _mm_add_epi32(acc.v, _mm_madd_epi16(x.even, w.even));
  return {opaque(_mm_add_epi32(sum, _mm_madd_epi16(x.odd, w.odd)))};
}

// Kernels use these where a target asks for them.
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE I32 dot4_moved(I32 acc, X4 x, W4 w) { return dot4(acc, x, w); }
ETCH_INLINE I32 dot4_lane(I32 acc, Bytes x, int group, W4 w) {
  return dot4(acc, broadcast4(by_lanes::stored(x).at + 4 * group), w);
}
ETCH_INLINE I32 dot_squares(I32 acc, Bytes x, Bytes w) { return by_lanes::dot_squares(acc, x, w); }
ETCH_INLINE Bytes repeat4(const uint8_t* x) {
  int32_t four;
  ETCH_MEMCPY(&four, x, sizeof four);
  return {_mm_set1_epi32(four)};
}
ETCH_INLINE Bytes repeat4_at(const uint8_t* x, const uint8_t* at, int) {
  return repeat4(x + by_lanes::place_at(at));
}
// opaque() as in dot4().
ETCH_INLINE I32 dot_sums16(I32 acc, Bytes x, Bytes w) {
  const __m128i words = _mm_maddubs_epi16(x.v, w.v);
  return {opaque(_mm_add_epi32(acc.v, _mm_madd_epi16(words, _mm_set1_epi16(1))))};
}
ETCH_INLINE I32 low_halves(I32 a, I32 b) { return {_mm_unpacklo_epi64(a.v, b.v)}; }
ETCH_INLINE I32 high_halves(I32 a, I32 b) { return {_mm_unpackhi_epi64(a.v, b.v)}; }

ETCH_INLINE I32 add_i32(I32 acc, I32 v) { return {_mm_add_epi32(acc.v, v.v)}; }

ETCH_INLINE I32 add_pairs(I32 a, I32 b) {
  const __m128i own = _mm_blend_epi16(a.v, b.v, 0xCC);
  const __m128i other =
      _mm_blend_epi16(_mm_shuffle_epi32(a.v, 0xB1), _mm_shuffle_epi32(b.v, 0xB1), 0xCC);
  return {_mm_add_epi32(own, other)};
}

// ---- bytes ----

ETCH_INLINE Bytes load_bytes(const uint8_t* p) { return {load_vector(p)}; }
ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) { return {load_xmm_n(p, n)}; }
ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  return {insert_xmm(b.v, p, first, n)};
}

ETCH_INLINE Bytes broadcast_bytes(const uint8_t* x) {
  return {_mm_set1_epi8(static_cast<char>(*x))};
}
ETCH_INLINE Bytes splat_bytes(int v) { return {_mm_set1_epi8(static_cast<char>(v))}; }
ETCH_INLINE Bytes max_bytes(Bytes a, Bytes b) { return {_mm_max_epu8(a.v, b.v)}; }
ETCH_INLINE Bytes max_into(Bytes acc, Bytes v) { return max_bytes(acc, v); }
ETCH_INLINE Bytes min_bytes(Bytes a, Bytes b) { return {_mm_min_epu8(a.v, b.v)}; }
ETCH_INLINE Bytes xor_bytes(Bytes a, Bytes b) { return {_mm_xor_si128(a.v, b.v)}; }

ETCH_INLINE Bytes every_second(Bytes a, Bytes b, int n) {
  if (n == 8) return {_mm_unpacklo_epi64(a.v, b.v)};
  if (n == 4) {
    return {_mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a.v), _mm_castsi128_ps(b.v), 0x88))};
  }
  const __m128i even = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  return {_mm_unpacklo_epi64(_mm_shuffle_epi8(a.v, even), _mm_shuffle_epi8(b.v, even))};
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const __m128i low01 = _mm_unpacklo_epi8(r0.v, r1.v);
  const __m128i high01 = _mm_unpackhi_epi8(r0.v, r1.v);
  const __m128i low23 = _mm_unpacklo_epi8(r2.v, r3.v);
  const __m128i high23 = _mm_unpackhi_epi8(r2.v, r3.v);
  return {split(_mm_unpacklo_epi16(low01, low23)), split(_mm_unpackhi_epi16(low01, low23)),
          split(_mm_unpacklo_epi16(high01, high23)), split(_mm_unpackhi_epi16(high01, high23))};
}

ETCH_INLINE QuadI widen4(Bytes b) {
  const __m128i zero = _mm_setzero_si128();
  const __m128i low = _mm_unpacklo_epi8(b.v, zero);
  const __m128i high = _mm_unpackhi_epi8(b.v, zero);
  return {{_mm_unpacklo_epi16(low, zero)},
          {_mm_unpackhi_epi16(low, zero)},
          {_mm_unpacklo_epi16(high, zero)},
          {_mm_unpackhi_epi16(high, zero)}};
}

ETCH_INLINE Bytes narrow4(I32 v0, I32 v1, I32 v2, I32 v3, int zp) {
  const __m128i offset = _mm_set1_epi16(static_cast<short>(zp));
  const __m128i v01 = _mm_adds_epi16(_mm_packs_epi32(v0.v, v1.v), offset);
  const __m128i v23 = _mm_adds_epi16(_mm_packs_epi32(v2.v, v3.v), offset);
  return {_mm_packus_epi16(v01, v23)};
}

// With 4 lanes the in-lane order is already each of these.
ETCH_INLINE Bytes arrange1(Bytes b) { return b; }
ETCH_INLINE Bytes arrange2(Bytes b) { return b; }
ETCH_INLINE Bytes arrange3(Bytes b) { return b; }

ETCH_INLINE QuadI natural4(I32 v0, I32 v1, I32 v2, I32 v3) { return {v0, v1, v2, v3}; }

ETCH_INLINE Bytes interleave(Bytes b, int n) {
  if (n == 2) {
    return {
        _mm_shuffle_epi8(b.v, _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15))};
  }
  if (n == 3) {
    return {
        _mm_shuffle_epi8(b.v, _mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 13, 14, 15))};
  }
  return {
      _mm_shuffle_epi8(b.v, _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15))};
}

ETCH_INLINE Bytes unzip(Bytes b) {
  return {
      _mm_shuffle_epi8(b.v, _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15))};
}

ETCH_INLINE void store_bytes(uint8_t* p, Bytes b) { store_vector(p, b.v); }

ETCH_INLINE void store_slice(uint8_t* p, Bytes b, int first, int n) {
  if (first == 0) {
    store_xmm_n(p, b.v, n);
  } else if (first == 4) {
    store_xmm_n(p, _mm_srli_si128(b.v, 4), n);
  } else if (first == 8) {
    store_xmm_n(p, _mm_srli_si128(b.v, 8), n);
  } else if (first == 12) {
    store_xmm_n(p, _mm_srli_si128(b.v, 12), n);
  } else {
    uint8_t all[16];
    store_vector(all, b.v);
    ETCH_MEMCPY(p, all + first, static_cast<size_t>(n));
  }
}

ETCH_INLINE void store_spread(uint8_t* p, Bytes b, int stride, int n) {
  uint8_t all[16];
  store_vector(all, b.v);
  for (int i = 0; i < n; ++i) p[static_cast<ptrdiff_t>(i) * stride] = all[i];
}

// ---- floats ----

// The bytes of n < 4 floats or int32.
ETCH_INLINE __m128i load_lanes_n(const void* p, int n) {
  return load_xmm_n(static_cast<const uint8_t*>(p), 4 * n);
}
ETCH_INLINE void store_lanes_n(void* p, __m128i v, int n) {
  store_xmm_n(static_cast<uint8_t*>(p), v, 4 * n);
}

ETCH_INLINE F32 splat_f32(float v) { return {_mm_set1_ps(v)}; }
ETCH_INLINE I32 load_i32_n(const int32_t* p, int n) {
  return {n >= 4 ? load_vector(p) : load_lanes_n(p, n)};
}
ETCH_INLINE I32 repeat_u8(const uint8_t* p) { return {_mm_set1_epi32(*p)}; }
ETCH_INLINE I32 sub_i32(I32 a, I32 b) { return {_mm_sub_epi32(a.v, b.v)}; }

ETCH_INLINE F32 repeat_f32(const float* p) { return {_mm_set1_ps(*p)}; }
ETCH_INLINE F32 load_f32(const float* p) { return {_mm_loadu_ps(p)}; }
ETCH_INLINE F32 load_f32_n(const float* p, int n) { return {_mm_castsi128_ps(load_lanes_n(p, n))}; }
ETCH_INLINE F32 to_f32(I32 v) { return {_mm_cvtepi32_ps(v.v)}; }
ETCH_INLINE F32 mul_f32(F32 a, F32 b) { return {opaque(_mm_mul_ps(a.v, b.v))}; }
ETCH_INLINE F32 add_f32(F32 a, F32 b) { return {opaque(_mm_add_ps(a.v, b.v))}; }
ETCH_INLINE F32 add_into(F32 acc, F32 v) { return add_f32(acc, v); }
ETCH_INLINE F32 div_f32(F32 a, F32 b) { return {_mm_div_ps(a.v, b.v)}; }

ETCH_INLINE F32 sub_f32(F32 a, F32 b) { return {opaque(_mm_sub_ps(a.v, b.v))}; }
ETCH_INLINE F32 abs_f32(F32 v) { return {_mm_andnot_ps(_mm_set1_ps(-0.0f), v.v)}; }
ETCH_INLINE F32 neg_f32(F32 v) { return {_mm_xor_ps(_mm_set1_ps(-0.0f), v.v)}; }

// Maximum and minimum give their second operand when one is NaN or both are equal.
ETCH_INLINE F32 at_least_f32(F32 v, F32 low) { return {_mm_max_ps(low.v, v.v)}; }
ETCH_INLINE F32 at_most_f32(F32 v, F32 high) { return {_mm_min_ps(high.v, v.v)}; }
ETCH_INLINE F32 max_f32(F32 a, F32 b) {
  return {_mm_blendv_ps(_mm_max_ps(a.v, b.v), a.v, _mm_cmpunord_ps(a.v, a.v))};
}
ETCH_INLINE F32 min_f32(F32 a, F32 b) {
  return {_mm_blendv_ps(_mm_min_ps(a.v, b.v), a.v, _mm_cmpunord_ps(a.v, a.v))};
}
ETCH_INLINE F32 unless_negative(F32 v, F32 other) {
  return {_mm_blendv_ps(other.v, v.v, _mm_cmpge_ps(v.v, _mm_setzero_ps()))};
}
ETCH_INLINE F32 fall_to(F32 acc, F32 v) { return at_most_f32(acc, v); }
ETCH_INLINE F32 rise_to(F32 acc, F32 v) { return at_least_f32(acc, v); }

// There is no instruction for it: lane by lane, exactly.
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) {
  float x[4];
  float y[4];
  float z[4];
  _mm_storeu_ps(x, a.v);
  _mm_storeu_ps(y, b.v);
  _mm_storeu_ps(z, c.v);
  for (int i = 0; i < 4; ++i) z[i] = rt::fma_exact(x[i], y[i], z[i]);
  return {_mm_loadu_ps(z)};
}

// Maximum and minimum give their second operand when one is NaN: hence this order.
ETCH_INLINE F32 clamp_f32(F32 v, float lo, float hi) {
  return {_mm_min_ps(_mm_max_ps(v.v, _mm_set1_ps(lo)), _mm_set1_ps(hi))};
}

ETCH_INLINE I32 round_i32(F32 v) { return {_mm_cvtps_epi32(v.v)}; }

// The float just below 1/2 moves every tie, and nothing else, over the next integer.
ETCH_INLINE I32 round_away_i32(F32 v) {
  const __m128 sign = _mm_and_ps(v.v, _mm_set1_ps(-0.0f));
  const __m128 half = _mm_or_ps(sign, _mm_set1_ps(0x1.fffffep-2f));
  return {_mm_cvttps_epi32(_mm_add_ps(v.v, half))};
}

ETCH_INLINE I32 trunc_i32(F32 v) { return {_mm_cvttps_epi32(v.v)}; }

ETCH_INLINE I32 scale_round(I32 acc, F32 s) {
  return {_mm_cvtps_epi32(_mm_mul_ps(_mm_cvtepi32_ps(acc.v), s.v))};
}

ETCH_INLINE I32 scale_clamp_round(I32 acc, F32 s, float lo, float hi) {
  return round_i32(clamp_f32({_mm_mul_ps(_mm_cvtepi32_ps(acc.v), s.v)}, lo, hi));
}

ETCH_INLINE void store_i32(int32_t* p, I32 v) { store_vector(p, v.v); }
ETCH_INLINE void store_f32(float* p, F32 v) { _mm_storeu_ps(p, v.v); }
ETCH_INLINE void store_f32_n(float* p, F32 v, int n) { store_lanes_n(p, _mm_castps_si128(v.v), n); }
ETCH_INLINE void store_i32_n(int32_t* p, I32 v, int n) { store_lanes_n(p, v.v, n); }

// ---- requantization without floats ----

// Even lanes and odd lanes as 64-bit sums; there is no shift by lanes: they go one by one.
ETCH_INLINE I32 multiply_high(I32 acc, const int32_t* p) {
  const __m128i m = load_vector(p);
  const __m128i low = load_vector(p + 4);
  const __m128i high = load_vector(p + 8);
  const __m128i even =
      _mm_add_epi64(_mm_mul_epi32(acc.v, m), _mm_blend_epi16(low, _mm_slli_epi64(high, 32), 0xCC));
  const __m128i odd = _mm_add_epi64(_mm_mul_epi32(_mm_srli_epi64(acc.v, 32), _mm_srli_epi64(m, 32)),
                                    _mm_blend_epi16(_mm_srli_epi64(low, 32), high, 0xCC));
  const __m128i q = _mm_blend_epi16(_mm_srli_epi64(even, 32), odd, 0xCC);
  return {_mm_setr_epi32(_mm_extract_epi32(q, 0) >> p[12], _mm_extract_epi32(q, 1) >> p[13],
                         _mm_extract_epi32(q, 2) >> p[14], _mm_extract_epi32(q, 3) >> p[15])};
}

// Rare forms, lane by lane.
ETCH_INLINE I32 multiply_shift(I32 acc, const int32_t* p) {
  int32_t sum[4], result[4];
  store_i32(sum, acc);
  rt::multiply_shift_lanes(sum, p, result, 4);
  return {load_vector(result)};
}

// Shifts of lanes by their own numbers are not in this instruction set.
ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) { return by_lanes::shift_to_even(acc, p); }

ETCH_INLINE I32 correct_where(I32 q, I32 acc, const int32_t* p) {
  const __m128i here = _mm_cmpeq_epi32(acc.v, load_vector(p));
  return {_mm_add_epi32(q.v, _mm_and_si128(here, load_vector(p + 4)))};
}

ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  return by_lanes::float_product(q, acc, p);
}

}  // namespace sse41
}  // namespace etch
