// The verbs that the vocabularies with 256-bit registers share: all but the products and what feeds
// them. One vector is 8 int32 or 32 bytes. Conversions follow MXCSR, which must say "round to
// nearest". n, first, zp and stride are meant to be literals, so that choosing between forms costs
// nothing. Needs AVX2 and FMA.
#pragma once

#include "etch_by_lanes.h"
#include "etch_integer.h"
#include "etch_x86.h"

namespace etch {
namespace ymm {

using namespace x86;

struct I32 {
  __m256i v;
};
struct F32 {
  __m256 v;
};
struct Bytes {
  __m256i v;
};
struct QuadI {
  I32 v0, v1, v2, v3;
};

// The same value, of unknown origin to the compiler: a product that went through here cannot be
// fused with a later addition, and a sum cannot be reordered.
ETCH_INLINE __m256 opaque(__m256 v) {
#if defined(__GNUC__)
  __asm__("" : "+x"(v));
#endif
  return v;
}
ETCH_INLINE __m256i opaque(__m256i v) {
#if defined(__GNUC__)
  __asm__("" : "+x"(v));
#endif
  return v;
}

ETCH_INLINE __m256i load_vector(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
ETCH_INLINE __m256i load_aligned(const void* p) {
  return _mm256_load_si256(static_cast<const __m256i*>(p));
}
ETCH_INLINE void store_vector(void* p, __m256i v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), v);
}

// All bits set in the lanes below n.
ETCH_INLINE __m256i first_lanes(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// ---- integers ----

ETCH_INLINE I32 zero_i32() { return {_mm256_setzero_si256()}; }
ETCH_INLINE I32 splat_i32(int v) { return {_mm256_set1_epi32(v)}; }
ETCH_INLINE I32 load_i32(const int32_t* p) { return {load_aligned(p)}; }

// 8 bytes in all places.
ETCH_INLINE __m256i load_eight(const uint8_t* p) {
  return _mm256_broadcastq_epi64(load_xmm_n(p, 8));
}

ETCH_INLINE I32 load_u8(const uint8_t* p) { return {_mm256_cvtepu8_epi32(load_xmm_n(p, 8))}; }
ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) {
  return {_mm256_cvtepu8_epi32(load_xmm_n(p, n))};
}

ETCH_INLINE I32 add_i32(I32 acc, I32 v) { return {_mm256_add_epi32(acc.v, v.v)}; }

// Kernels use these where a target asks for them.
ETCH_INLINE I32 dot_squares(I32 acc, Bytes x, Bytes w) { return by_lanes::dot_squares(acc, x, w); }
ETCH_INLINE Bytes repeat4(const uint8_t* x) {
  int32_t four;
  ETCH_MEMCPY(&four, x, sizeof four);
  return {_mm256_set1_epi32(four)};
}
ETCH_INLINE Bytes repeat4_at(const uint8_t* x, const uint8_t* at, int) {
  return repeat4(x + by_lanes::place_at(at));
}
// opaque() as in dot4().
ETCH_INLINE I32 dot_sums16(I32 acc, Bytes x, Bytes w) {
  const __m256i words = _mm256_maddubs_epi16(x.v, w.v);
  return {opaque(_mm256_add_epi32(acc.v, _mm256_madd_epi16(words, _mm256_set1_epi16(1))))};
}
ETCH_INLINE I32 low_halves(I32 a, I32 b) { return {_mm256_unpacklo_epi64(a.v, b.v)}; }
ETCH_INLINE I32 high_halves(I32 a, I32 b) { return {_mm256_unpackhi_epi64(a.v, b.v)}; }

ETCH_INLINE I32 add_pairs(I32 a, I32 b) {
  const __m256i own = _mm256_blend_epi32(a.v, b.v, 0xAA);
  const __m256i other =
      _mm256_blend_epi32(_mm256_shuffle_epi32(a.v, 0xB1), _mm256_shuffle_epi32(b.v, 0xB1), 0xAA);
  return {_mm256_add_epi32(own, other)};
}

// ---- bytes ----

ETCH_INLINE Bytes load_bytes(const uint8_t* p) { return {load_vector(p)}; }

ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) {
  if (n <= 16) return {_mm256_zextsi128_si256(load_xmm_n(p, n))};
  return {_mm256_set_m128i(load_xmm_n(p + 16, n - 16), load_xmm_n(p, 16))};
}

// Multiples of 8 go to all places and are blended in where they belong.
ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  if (n == 16 && first % 16 == 0) {
    const __m256i all = _mm256_broadcastsi128_si256(load_xmm_n(p, 16));
    return {first == 0 ? _mm256_blend_epi32(b.v, all, 0x0F) : _mm256_blend_epi32(b.v, all, 0xF0)};
  }
  if (n == 8 && first % 8 == 0) {
    const __m256i all = load_eight(p);
    if (first == 0) return {_mm256_blend_epi32(b.v, all, 0x03)};
    if (first == 8) return {_mm256_blend_epi32(b.v, all, 0x0C)};
    if (first == 16) return {_mm256_blend_epi32(b.v, all, 0x30)};
    return {_mm256_blend_epi32(b.v, all, 0xC0)};
  }
  const int low = first >= 16 ? 0 : (first + n <= 16 ? n : 16 - first);
  __m128i half[2] = {_mm256_castsi256_si128(b.v), _mm256_extracti128_si256(b.v, 1)};
  if (low > 0) half[0] = insert_xmm(half[0], p, first, low);
  if (n > low) half[1] = insert_xmm(half[1], p + low, first + low - 16, n - low);
  return {_mm256_set_m128i(half[1], half[0])};
}

ETCH_INLINE Bytes broadcast_bytes(const uint8_t* x) {
  return {_mm256_set1_epi8(static_cast<char>(*x))};
}
ETCH_INLINE Bytes splat_bytes(int v) { return {_mm256_set1_epi8(static_cast<char>(v))}; }
ETCH_INLINE Bytes max_bytes(Bytes a, Bytes b) { return {_mm256_max_epu8(a.v, b.v)}; }
ETCH_INLINE Bytes max_into(Bytes acc, Bytes v) { return max_bytes(acc, v); }
ETCH_INLINE Bytes min_bytes(Bytes a, Bytes b) { return {_mm256_min_epu8(a.v, b.v)}; }
ETCH_INLINE Bytes xor_bytes(Bytes a, Bytes b) { return {_mm256_xor_si256(a.v, b.v)}; }

ETCH_INLINE Bytes every_second(Bytes a, Bytes b, int n) {
  if (n == 16) return {_mm256_permute2x128_si256(a.v, b.v, 0x20)};
  if (n == 8) return {_mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a.v, b.v), 0xD8)};
  const __m256 fours = _mm256_shuffle_ps(_mm256_castsi256_ps(a.v), _mm256_castsi256_ps(b.v), 0x88);
  return {_mm256_permute4x64_epi64(_mm256_castps_si256(fours), 0xD8)};
}

ETCH_INLINE QuadI widen4(Bytes b) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i low = _mm256_unpacklo_epi8(b.v, zero);
  const __m256i high = _mm256_unpackhi_epi8(b.v, zero);
  return {{_mm256_unpacklo_epi16(low, zero)},
          {_mm256_unpackhi_epi16(low, zero)},
          {_mm256_unpacklo_epi16(high, zero)},
          {_mm256_unpackhi_epi16(high, zero)}};
}

ETCH_INLINE Bytes narrow4(I32 v0, I32 v1, I32 v2, I32 v3, int zp) {
  const __m256i offset = _mm256_set1_epi16(static_cast<short>(zp));
  const __m256i v01 = _mm256_adds_epi16(_mm256_packs_epi32(v0.v, v1.v), offset);
  const __m256i v23 = _mm256_adds_epi16(_mm256_packs_epi32(v2.v, v3.v), offset);
  return {_mm256_packus_epi16(v01, v23)};
}

ETCH_INLINE Bytes arrange1(Bytes b) {
  return {_mm256_permutevar8x32_epi32(b.v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))};
}

ETCH_INLINE Bytes arrange2(Bytes b) { return {_mm256_permute4x64_epi64(b.v, 0xD8)}; }

ETCH_INLINE Bytes arrange3(Bytes b) {
  return {_mm256_permutevar8x32_epi32(b.v, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7))};
}

// Both 128-bit lanes of v0 .. v3 in order, then the second ones.
ETCH_INLINE QuadI natural4(I32 v0, I32 v1, I32 v2, I32 v3) {
  return {{_mm256_permute2x128_si256(v0.v, v1.v, 0x20)},
          {_mm256_permute2x128_si256(v2.v, v3.v, 0x20)},
          {_mm256_permute2x128_si256(v0.v, v1.v, 0x31)},
          {_mm256_permute2x128_si256(v2.v, v3.v, 0x31)}};
}

ETCH_INLINE Bytes interleave(Bytes b, int n) {
  const __m128i two = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i three = _mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 13, 14, 15);
  const __m128i four = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m128i order = n == 2 ? two : (n == 3 ? three : four);
  const Bytes lanes = {_mm256_shuffle_epi8(b.v, _mm256_broadcastsi128_si256(order))};
  if (n == 2) return {_mm256_permute4x64_epi64(lanes.v, 0xD8)};
  return n == 3 ? arrange3(lanes) : lanes;
}

ETCH_INLINE Bytes unzip(Bytes b) {
  const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
  return {_mm256_shuffle_epi8(b.v, _mm256_broadcastsi128_si256(order))};
}

ETCH_INLINE void store_bytes(uint8_t* p, Bytes b) { store_vector(p, b.v); }

// The first n <= 32 bytes.
ETCH_INLINE void store_bytes_n(uint8_t* p, __m256i v, int n) {
  if (n >= 32) {
    store_vector(p, v);
  } else if (n <= 16) {
    store_xmm_n(p, _mm256_castsi256_si128(v), n);
  } else {
    store_xmm_n(p, _mm256_castsi256_si128(v), 16);
    store_xmm_n(p + 16, _mm256_extracti128_si256(v, 1), n - 16);
  }
}

ETCH_INLINE void store_slice(uint8_t* p, Bytes b, int first, int n) {
  if (first == 0) {
    store_bytes_n(p, b.v, n);
  } else if (first == 8 && n == 8) {
    store_xmm_n(p, _mm_unpackhi_epi64(_mm256_castsi256_si128(b.v), _mm_setzero_si128()), 8);
  } else if (first == 16) {
    store_xmm_n(p, _mm256_extracti128_si256(b.v, 1), n);
  } else if (first == 24 && n == 8) {
    store_xmm_n(p, _mm_unpackhi_epi64(_mm256_extracti128_si256(b.v, 1), _mm_setzero_si128()), 8);
  } else if (first % 4 == 0) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i from = _mm256_add_epi32(lane, _mm256_set1_epi32(first / 4));
    store_bytes_n(p, _mm256_permutevar8x32_epi32(b.v, from), n);
  } else {
    uint8_t all[32];
    store_vector(all, b.v);
    ETCH_MEMCPY(p, all + first, static_cast<size_t>(n));
  }
}

ETCH_INLINE void store_spread(uint8_t* p, Bytes b, int stride, int n) {
  uint8_t all[32];
  store_vector(all, b.v);
  for (int i = 0; i < n; ++i) p[static_cast<ptrdiff_t>(i) * stride] = all[i];
}

// ---- floats ----

ETCH_INLINE F32 splat_f32(float v) { return {_mm256_set1_ps(v)}; }
ETCH_INLINE I32 load_i32_n(const int32_t* p, int n) {
  return {n >= 8 ? load_vector(p) : _mm256_maskload_epi32(p, first_lanes(n))};
}
ETCH_INLINE I32 repeat_u8(const uint8_t* p) { return {_mm256_set1_epi32(*p)}; }
ETCH_INLINE I32 sub_i32(I32 a, I32 b) { return {_mm256_sub_epi32(a.v, b.v)}; }

ETCH_INLINE F32 repeat_f32(const float* p) { return {_mm256_broadcast_ss(p)}; }
ETCH_INLINE F32 load_f32(const float* p) { return {_mm256_loadu_ps(p)}; }
ETCH_INLINE F32 load_f32_n(const float* p, int n) {
  return {_mm256_maskload_ps(p, first_lanes(n))};
}
ETCH_INLINE F32 to_f32(I32 v) { return {_mm256_cvtepi32_ps(v.v)}; }
ETCH_INLINE F32 mul_f32(F32 a, F32 b) { return {opaque(_mm256_mul_ps(a.v, b.v))}; }
ETCH_INLINE F32 add_f32(F32 a, F32 b) { return {opaque(_mm256_add_ps(a.v, b.v))}; }
ETCH_INLINE F32 add_into(F32 acc, F32 v) { return add_f32(acc, v); }
ETCH_INLINE F32 div_f32(F32 a, F32 b) { return {_mm256_div_ps(a.v, b.v)}; }
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }

ETCH_INLINE F32 sub_f32(F32 a, F32 b) { return {opaque(_mm256_sub_ps(a.v, b.v))}; }
ETCH_INLINE F32 abs_f32(F32 v) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), v.v)}; }
ETCH_INLINE F32 neg_f32(F32 v) { return {_mm256_xor_ps(_mm256_set1_ps(-0.0f), v.v)}; }

// Maximum and minimum give their second operand when one is NaN or both are equal.
ETCH_INLINE F32 at_least_f32(F32 v, F32 low) { return {_mm256_max_ps(low.v, v.v)}; }
ETCH_INLINE F32 at_most_f32(F32 v, F32 high) { return {_mm256_min_ps(high.v, v.v)}; }
ETCH_INLINE F32 max_f32(F32 a, F32 b) {
  return {_mm256_blendv_ps(_mm256_max_ps(a.v, b.v), a.v, _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
}
ETCH_INLINE F32 min_f32(F32 a, F32 b) {
  return {_mm256_blendv_ps(_mm256_min_ps(a.v, b.v), a.v, _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
}
ETCH_INLINE F32 unless_negative(F32 v, F32 other) {
  return {_mm256_blendv_ps(other.v, v.v, _mm256_cmp_ps(v.v, _mm256_setzero_ps(), _CMP_GE_OQ))};
}
ETCH_INLINE F32 fall_to(F32 acc, F32 v) { return at_most_f32(acc, v); }
ETCH_INLINE F32 rise_to(F32 acc, F32 v) { return at_least_f32(acc, v); }

// Maximum and minimum give their second operand when one is NaN: hence this order.
ETCH_INLINE F32 clamp_f32(F32 v, float lo, float hi) {
  return {_mm256_min_ps(_mm256_max_ps(v.v, _mm256_set1_ps(lo)), _mm256_set1_ps(hi))};
}

ETCH_INLINE I32 round_i32(F32 v) { return {_mm256_cvtps_epi32(v.v)}; }

// The float just below 1/2 moves every tie, and nothing else, over the next integer.
ETCH_INLINE I32 round_away_i32(F32 v) {
  const __m256 sign = _mm256_and_ps(v.v, _mm256_set1_ps(-0.0f));
  const __m256 half = _mm256_or_ps(sign, _mm256_set1_ps(0x1.fffffep-2f));
  return {_mm256_cvttps_epi32(_mm256_add_ps(v.v, half))};
}

ETCH_INLINE I32 trunc_i32(F32 v) { return {_mm256_cvttps_epi32(v.v)}; }

ETCH_INLINE I32 scale_round(I32 acc, F32 s) {
  return {_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc.v), s.v))};
}

ETCH_INLINE I32 scale_clamp_round(I32 acc, F32 s, float lo, float hi) {
  return round_i32(clamp_f32({_mm256_mul_ps(_mm256_cvtepi32_ps(acc.v), s.v)}, lo, hi));
}

ETCH_INLINE void store_i32(int32_t* p, I32 v) { store_vector(p, v.v); }
ETCH_INLINE void store_f32(float* p, F32 v) { _mm256_storeu_ps(p, v.v); }
ETCH_INLINE void store_f32_n(float* p, F32 v, int n) {
  _mm256_maskstore_ps(p, first_lanes(n), v.v);
}

ETCH_INLINE void store_i32_n(int32_t* p, I32 v, int n) {
  if (n >= 8) {
    store_vector(p, v.v);
  } else {
    _mm256_maskstore_epi32(p, first_lanes(n), v.v);
  }
}

// ---- requantization without floats ----

// Even lanes and odd lanes as 64-bit sums.
ETCH_INLINE I32 multiply_high(I32 acc, const int32_t* p) {
  const __m256i m = load_vector(p);
  const __m256i low = load_vector(p + 8);
  const __m256i high = load_vector(p + 16);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(acc.v, m),
                                        _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xAA));
  const __m256i odd =
      _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(acc.v, 32), _mm256_srli_epi64(m, 32)),
                       _mm256_blend_epi32(_mm256_srli_epi64(low, 32), high, 0xAA));
  const __m256i q = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
  return {_mm256_srav_epi32(q, load_vector(p + 24))};
}

// Rare forms, lane by lane.
ETCH_INLINE I32 multiply_shift(I32 acc, const int32_t* p) {
  int32_t sum[8], result[8];
  store_i32(sum, acc);
  rt::multiply_shift_lanes(sum, p, result, 8);
  return {load_vector(result)};
}

ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) {
  const __m256i shift = load_vector(p + 8);
  const __m256i odd = _mm256_and_si256(_mm256_srav_epi32(acc.v, shift), _mm256_set1_epi32(1));
  const __m256i more = _mm256_add_epi32(load_vector(p), odd);
  return {_mm256_srav_epi32(_mm256_add_epi32(acc.v, more), shift)};
}

ETCH_INLINE I32 correct_where(I32 q, I32 acc, const int32_t* p) {
  const __m256i here = _mm256_cmpeq_epi32(acc.v, load_vector(p));
  return {_mm256_add_epi32(q.v, _mm256_and_si256(here, load_vector(p + 8)))};
}

ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  return by_lanes::float_product(q, acc, p);
}

}  // namespace ymm
}  // namespace etch
