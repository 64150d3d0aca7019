// The verbs of generated code for x86-64 with AVX-512 VNNI: one vector is 16 int32 or 64 bytes.
// Every verb has the same meaning on every instruction set, down to rounding and saturation; here
// each is a handful of instructions. Activations are uint8 and weights int8, the only order in
// which vpdpbusd multiplies. Conversions follow MXCSR, which must say "round to nearest".
// n, first, zp and stride are meant to be literals, so that choosing between forms costs nothing.
#pragma once

#if defined(__GNUC__) &&                                                        \
    !(defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
      defined(__AVX512DQ__) && defined(__AVX512VNNI__))
#error "etch: compile this file with -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma"
#endif

#include "etch_by_lanes.h"
#include "etch_integer.h"
#include "etch_x86.h"

namespace etch {
namespace avx512_vnni {

using namespace x86;

struct I32 {
  __m512i v;
};
struct F32 {
  __m512 v;
};
struct X4 {
  __m512i v;
};
struct W4 {
  __m512i v;
};
struct Bytes {
  __m512i v;
};
struct QuadX {
  X4 v0, v1, v2, v3;
};
struct QuadI {
  I32 v0, v1, v2, v3;
};

// The same value, of unknown origin to the compiler: a product that went through here cannot be
// fused with a later addition.
ETCH_INLINE __m512 opaque(__m512 v) {
#if defined(__GNUC__)
  __asm__("" : "+v"(v));
#endif
  return v;
}

// Masks with every lane set. GCC 12 declares the result of many plain forms uninitialized, and then
// warns about it; their zero-masked forms with a full mask are the same instructions.
static const __mmask16 kAll = 0xFFFF;
static const __mmask8 kAllPairs = 0xFF;

// The lowest n bits set, 0 <= n <= 64 or 16.
ETCH_INLINE __mmask64 first_bytes(int n) { return n >= 64 ? ~0ULL : (1ULL << n) - 1ULL; }
ETCH_INLINE __mmask16 first_lanes(int n) { return static_cast<__mmask16>((1u << n) - 1u); }

// ---- integers and products ----

ETCH_INLINE I32 zero_i32() { return {_mm512_setzero_si512()}; }
ETCH_INLINE I32 splat_i32(int v) { return {_mm512_set1_epi32(v)}; }
ETCH_INLINE I32 load_i32(const int32_t* p) { return {_mm512_load_si512(p)}; }

ETCH_INLINE I32 load_u8(const uint8_t* p) {
  const void* const from = p;
  return {_mm512_maskz_cvtepu8_epi32(kAll, _mm_loadu_si128(static_cast<const __m128i*>(from)))};
}

ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) {
  return {_mm512_maskz_cvtepu8_epi32(kAll, load_xmm_masked(first_lanes(n), p))};
}

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  int32_t four;
  ETCH_MEMCPY(&four, x, sizeof four);
  return {_mm512_set1_epi32(four)};
}

ETCH_INLINE X4 broadcast8(const uint8_t* x) {
  int64_t eight;
  ETCH_MEMCPY(&eight, x, sizeof eight);
  return {_mm512_set1_epi64(eight)};
}

ETCH_INLINE W4 load_w4(const uint8_t* w) { return {_mm512_loadu_si512(w)}; }
ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) { return {_mm512_dpbusd_epi32(acc.v, x.v, w.v)}; }
// Kernels use these where a target asks for them.
ETCH_INLINE W4 load_byte_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE I32 dot4_moved(I32 acc, X4 x, W4 w) { return dot4(acc, x, w); }
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
  return {_mm512_maskz_unpacklo_epi64(kAllPairs, a.v, b.v)};
}
ETCH_INLINE I32 high_halves(I32 a, I32 b) {
  return {_mm512_maskz_unpackhi_epi64(kAllPairs, a.v, b.v)};
}

ETCH_INLINE I32 add_i32(I32 acc, I32 v) { return {_mm512_add_epi32(acc.v, v.v)}; }

ETCH_INLINE I32 add_pairs(I32 a, I32 b) {
  const __m512i own = _mm512_mask_blend_epi32(0xAAAA, a.v, b.v);
  const __m512i swapped = _mm512_maskz_shuffle_epi32(kAll, a.v, _MM_PERM_CDAB);
  return {_mm512_add_epi32(own, _mm512_mask_shuffle_epi32(swapped, 0xAAAA, b.v, _MM_PERM_CDAB))};
}

// ---- bytes ----

ETCH_INLINE Bytes load_bytes(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }

ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) {
  return {_mm512_maskz_loadu_epi8(first_bytes(n), p)};
}

// 16 or 32 bytes go to all places and are blended in where they belong. Otherwise a masked load,
// which does not touch the bytes around.
ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  const void* const from = p;
  if (n == 32 && first % 32 == 0) {
    const __m256i half = _mm256_loadu_si256(static_cast<const __m256i*>(from));
    return {_mm512_mask_broadcast_i64x4(b.v, static_cast<__mmask8>(0xF << (first / 8)), half)};
  }
  if (n != 16 || first % 16 != 0)
    return {_mm512_mask_loadu_epi8(b.v, first_bytes(n) << first, p - first)};
  const __m128i quarter = _mm_loadu_si128(static_cast<const __m128i*>(from));
  return {_mm512_mask_broadcast_i32x4(b.v, static_cast<__mmask16>(0xF << (first / 4)), quarter)};
}

ETCH_INLINE Bytes broadcast_bytes(const uint8_t* x) {
  return {_mm512_set1_epi8(static_cast<char>(*x))};
}
ETCH_INLINE Bytes splat_bytes(int v) { return {_mm512_set1_epi8(static_cast<char>(v))}; }
ETCH_INLINE Bytes max_bytes(Bytes a, Bytes b) { return {_mm512_max_epu8(a.v, b.v)}; }
ETCH_INLINE Bytes max_into(Bytes acc, Bytes v) { return max_bytes(acc, v); }
ETCH_INLINE Bytes min_bytes(Bytes a, Bytes b) { return {_mm512_min_epu8(a.v, b.v)}; }
ETCH_INLINE Bytes xor_bytes(Bytes a, Bytes b) { return {_mm512_xor_si512(a.v, b.v)}; }

ETCH_INLINE Bytes every_second(Bytes a, Bytes b, int n) {
  const __m512i eights = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i sixteens = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13);
  const __m512i halves = _mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11);
  const __m512i from = n == 8 ? eights : (n == 16 ? sixteens : halves);
  return {_mm512_permutex2var_epi64(a.v, from, b.v)};
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const __m512i low01 = _mm512_unpacklo_epi8(r0.v, r1.v);
  const __m512i high01 = _mm512_unpackhi_epi8(r0.v, r1.v);
  const __m512i low23 = _mm512_unpacklo_epi8(r2.v, r3.v);
  const __m512i high23 = _mm512_unpackhi_epi8(r2.v, r3.v);
  return {{_mm512_unpacklo_epi16(low01, low23)},
          {_mm512_unpackhi_epi16(low01, low23)},
          {_mm512_unpacklo_epi16(high01, high23)},
          {_mm512_unpackhi_epi16(high01, high23)}};
}

ETCH_INLINE QuadI widen4(Bytes b) {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i low = _mm512_unpacklo_epi8(b.v, zero);
  const __m512i high = _mm512_unpackhi_epi8(b.v, zero);
  return {{_mm512_unpacklo_epi16(low, zero)},
          {_mm512_unpackhi_epi16(low, zero)},
          {_mm512_unpacklo_epi16(high, zero)},
          {_mm512_unpackhi_epi16(high, zero)}};
}

ETCH_INLINE Bytes narrow4(I32 v0, I32 v1, I32 v2, I32 v3, int zp) {
  const __m512i offset = _mm512_set1_epi16(static_cast<short>(zp));
  const __m512i v01 = _mm512_adds_epi16(_mm512_packs_epi32(v0.v, v1.v), offset);
  const __m512i v23 = _mm512_adds_epi16(_mm512_packs_epi32(v2.v, v3.v), offset);
  return {_mm512_packus_epi16(v01, v23)};
}

ETCH_INLINE Bytes arrange1(Bytes b) {
  const __m512i from = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return {_mm512_maskz_permutexvar_epi32(kAll, from, b.v)};
}

ETCH_INLINE Bytes arrange2(Bytes b) {
  return {
      _mm512_maskz_permutexvar_epi64(kAllPairs, _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), b.v)};
}

ETCH_INLINE Bytes arrange3(Bytes b) {
  const __m512i from = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
  return {_mm512_maskz_permutexvar_epi32(kAll, from, b.v)};
}

// 128-bit lanes as a 4 x 4 matrix, transposed.
ETCH_INLINE QuadI natural4(I32 v0, I32 v1, I32 v2, I32 v3) {
  const __m512i low01 = _mm512_maskz_shuffle_i32x4(kAll, v0.v, v1.v, 0x44);
  const __m512i high01 = _mm512_maskz_shuffle_i32x4(kAll, v0.v, v1.v, 0xEE);
  const __m512i low23 = _mm512_maskz_shuffle_i32x4(kAll, v2.v, v3.v, 0x44);
  const __m512i high23 = _mm512_maskz_shuffle_i32x4(kAll, v2.v, v3.v, 0xEE);
  return {{_mm512_maskz_shuffle_i32x4(kAll, low01, low23, 0x88)},
          {_mm512_maskz_shuffle_i32x4(kAll, low01, low23, 0xDD)},
          {_mm512_maskz_shuffle_i32x4(kAll, high01, high23, 0x88)},
          {_mm512_maskz_shuffle_i32x4(kAll, high01, high23, 0xDD)}};
}

ETCH_INLINE Bytes interleave(Bytes b, int n) {
  const __m128i two = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i three = _mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 13, 14, 15);
  const __m128i four = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m128i order = n == 2 ? two : (n == 3 ? three : four);
  const Bytes lanes = {_mm512_shuffle_epi8(b.v, _mm512_maskz_broadcast_i32x4(kAll, order))};
  if (n == 2) return arrange2(lanes);
  return n == 3 ? arrange3(lanes) : lanes;
}

ETCH_INLINE Bytes unzip(Bytes b) {
  const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  return {_mm512_shuffle_epi8(b.v, _mm512_maskz_broadcast_i32x4(kAll, order))};
}

ETCH_INLINE void store_bytes(uint8_t* p, Bytes b) { _mm512_storeu_si512(p, b.v); }

// Sixteen bytes of b from 16 * part on.
ETCH_INLINE __m128i quarter(Bytes b, int part) {
  if (part == 0) return _mm512_maskz_extracti32x4_epi32(kAllPairs, b.v, 0);
  if (part == 1) return _mm512_maskz_extracti32x4_epi32(kAllPairs, b.v, 1);
  if (part == 2) return _mm512_maskz_extracti32x4_epi32(kAllPairs, b.v, 2);
  return _mm512_maskz_extracti32x4_epi32(kAllPairs, b.v, 3);
}

ETCH_INLINE void store_slice(uint8_t* p, Bytes b, int first, int n) {
  void* const to = p;
  if (first % 16 == 0 && n == 16) {
    _mm_storeu_si128(static_cast<__m128i*>(to), quarter(b, first / 16));
  } else if (first == 0 && n == 32) {
    _mm256_storeu_si256(static_cast<__m256i*>(to),
                        _mm512_maskz_extracti64x4_epi64(kAllPairs, b.v, 0));
  } else if (first == 32 && n == 32) {
    _mm256_storeu_si256(static_cast<__m256i*>(to),
                        _mm512_maskz_extracti64x4_epi64(kAllPairs, b.v, 1));
  } else if (first % 16 == 0 && n == 8) {
    _mm_storel_epi64(static_cast<__m128i*>(to), quarter(b, first / 16));
  } else if (first % 16 == 8 && n == 8) {
    double upper;  // not to p: in g++'s header that is a store of an aligned double
    _mm_storeh_pd(&upper, _mm_castsi128_pd(quarter(b, first / 16)));
    ETCH_MEMCPY(p, &upper, sizeof upper);
  } else if (first == 0) {
    _mm512_mask_storeu_epi8(to, first_bytes(n), b.v);
  } else if (first % 4 == 0) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i from = _mm512_add_epi32(lane, _mm512_set1_epi32(first / 4));
    _mm512_mask_storeu_epi8(to, first_bytes(n), _mm512_maskz_permutexvar_epi32(kAll, from, b.v));
  } else {
    uint8_t all[64];
    _mm512_storeu_si512(all, b.v);
    ETCH_MEMCPY(p, all + first, static_cast<size_t>(n));
  }
}

ETCH_INLINE void store_spread(uint8_t* p, Bytes b, int stride, int n) {
  uint8_t all[64];
  _mm512_storeu_si512(all, b.v);
  for (int i = 0; i < n; ++i) p[static_cast<ptrdiff_t>(i) * stride] = all[i];
}

// ---- floats ----

ETCH_INLINE F32 splat_f32(float v) { return {_mm512_set1_ps(v)}; }
ETCH_INLINE I32 load_i32_n(const int32_t* p, int n) {
  return {n >= 16 ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi32(first_lanes(n), p)};
}
ETCH_INLINE I32 repeat_u8(const uint8_t* p) { return {_mm512_set1_epi32(*p)}; }
ETCH_INLINE I32 sub_i32(I32 a, I32 b) { return {_mm512_sub_epi32(a.v, b.v)}; }

ETCH_INLINE F32 repeat_f32(const float* p) { return {_mm512_set1_ps(*p)}; }
ETCH_INLINE F32 load_f32(const float* p) { return {_mm512_loadu_ps(p)}; }

ETCH_INLINE F32 load_f32_n(const float* p, int n) {
  return {_mm512_maskz_loadu_ps(first_lanes(n), p)};
}

ETCH_INLINE F32 to_f32(I32 v) { return {_mm512_maskz_cvtepi32_ps(kAll, v.v)}; }
ETCH_INLINE F32 mul_f32(F32 a, F32 b) { return {opaque(_mm512_mul_ps(a.v, b.v))}; }
ETCH_INLINE F32 add_f32(F32 a, F32 b) { return {opaque(_mm512_add_ps(a.v, b.v))}; }
ETCH_INLINE F32 add_into(F32 acc, F32 v) { return add_f32(acc, v); }
ETCH_INLINE F32 div_f32(F32 a, F32 b) { return {_mm512_div_ps(a.v, b.v)}; }
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }

ETCH_INLINE F32 sub_f32(F32 a, F32 b) { return {opaque(_mm512_sub_ps(a.v, b.v))}; }
ETCH_INLINE F32 abs_f32(F32 v) {
  return {_mm512_castsi512_ps(
      _mm512_and_si512(_mm512_castps_si512(v.v), _mm512_set1_epi32(INT32_MAX)))};
}
ETCH_INLINE F32 neg_f32(F32 v) {
  return {_mm512_castsi512_ps(
      _mm512_xor_si512(_mm512_castps_si512(v.v), _mm512_set1_epi32(INT32_MIN)))};
}

// Maximum and minimum give their second operand when one is NaN or both are equal.
ETCH_INLINE F32 at_least_f32(F32 v, F32 low) { return {_mm512_maskz_max_ps(kAll, low.v, v.v)}; }
ETCH_INLINE F32 at_most_f32(F32 v, F32 high) { return {_mm512_maskz_min_ps(kAll, high.v, v.v)}; }
ETCH_INLINE F32 max_f32(F32 a, F32 b) {
  const __mmask16 nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  return {_mm512_mask_blend_ps(nan, _mm512_maskz_max_ps(kAll, a.v, b.v), a.v)};
}
ETCH_INLINE F32 min_f32(F32 a, F32 b) {
  const __mmask16 nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  return {_mm512_mask_blend_ps(nan, _mm512_maskz_min_ps(kAll, a.v, b.v), a.v)};
}
ETCH_INLINE F32 unless_negative(F32 v, F32 other) {
  const __mmask16 kept = _mm512_cmp_ps_mask(v.v, _mm512_setzero_ps(), _CMP_GE_OQ);
  return {_mm512_mask_blend_ps(kept, other.v, v.v)};
}
ETCH_INLINE F32 fall_to(F32 acc, F32 v) { return at_most_f32(acc, v); }
ETCH_INLINE F32 rise_to(F32 acc, F32 v) { return at_least_f32(acc, v); }

// Maximum and minimum give their second operand when one is NaN: hence this order.
ETCH_INLINE F32 clamp_f32(F32 v, float lo, float hi) {
  return {_mm512_maskz_min_ps(kAll, _mm512_maskz_max_ps(kAll, v.v, _mm512_set1_ps(lo)),
                              _mm512_set1_ps(hi))};
}

ETCH_INLINE I32 round_i32(F32 v) { return {_mm512_maskz_cvtps_epi32(kAll, v.v)}; }

// The float just below 1/2 moves every tie, and nothing else, over the next integer.
ETCH_INLINE I32 round_away_i32(F32 v) {
  const __m512i sign = _mm512_and_si512(_mm512_castps_si512(v.v), _mm512_set1_epi32(INT32_MIN));
  const __m512 half = _mm512_castsi512_ps(_mm512_or_si512(sign, _mm512_set1_epi32(0x3effffff)));
  return {_mm512_maskz_cvttps_epi32(kAll, _mm512_add_ps(v.v, half))};
}

ETCH_INLINE I32 trunc_i32(F32 v) { return {_mm512_maskz_cvttps_epi32(kAll, v.v)}; }

ETCH_INLINE I32 scale_round(I32 acc, F32 s) {
  return {
      _mm512_maskz_cvtps_epi32(kAll, _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, acc.v), s.v))};
}

ETCH_INLINE I32 scale_clamp_round(I32 acc, F32 s, float lo, float hi) {
  return round_i32(clamp_f32({_mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, acc.v), s.v)}, lo, hi));
}

ETCH_INLINE void store_i32(int32_t* p, I32 v) { _mm512_storeu_si512(p, v.v); }
ETCH_INLINE void store_f32(float* p, F32 v) { _mm512_storeu_ps(p, v.v); }
ETCH_INLINE void store_f32_n(float* p, F32 v, int n) {
  _mm512_mask_storeu_ps(p, first_lanes(n), v.v);
}
ETCH_INLINE void store_i32_n(int32_t* p, I32 v, int n) {
  _mm512_mask_storeu_epi32(p, first_lanes(n), v.v);
}

// ---- requantization without floats ----

ETCH_INLINE __m512i upper_words(__m512i v) { return _mm512_maskz_srli_epi64(kAllPairs, v, 32); }

// Even lanes and odd lanes as 64-bit sums.
ETCH_INLINE I32 multiply_high(I32 acc, const int32_t* p) {
  const __m512i m = _mm512_loadu_si512(p);
  const __m512i low = _mm512_loadu_si512(p + 16);
  const __m512i high = _mm512_loadu_si512(p + 32);
  const __m512i even = _mm512_add_epi64(
      _mm512_maskz_mul_epi32(kAllPairs, acc.v, m),
      _mm512_mask_blend_epi32(0xAAAA, low, _mm512_maskz_slli_epi64(kAllPairs, high, 32)));
  const __m512i odd =
      _mm512_add_epi64(_mm512_maskz_mul_epi32(kAllPairs, upper_words(acc.v), upper_words(m)),
                       _mm512_mask_blend_epi32(0xAAAA, upper_words(low), high));
  const __m512i q = _mm512_mask_blend_epi32(0xAAAA, upper_words(even), odd);
  return {_mm512_maskz_srav_epi32(kAll, q, _mm512_loadu_si512(p + 48))};
}

// Rare forms, lane by lane.
ETCH_INLINE I32 multiply_shift(I32 acc, const int32_t* p) {
  int32_t sum[16], result[16];
  store_i32(sum, acc);
  rt::multiply_shift_lanes(sum, p, result, 16);
  return {_mm512_loadu_si512(result)};
}

ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) {
  const __m512i shift = _mm512_loadu_si512(p + 16);
  const __m512i odd =
      _mm512_and_si512(_mm512_maskz_srav_epi32(0xffff, acc.v, shift), _mm512_set1_epi32(1));
  const __m512i more = _mm512_add_epi32(_mm512_loadu_si512(p), odd);
  return {_mm512_maskz_srav_epi32(0xffff, _mm512_add_epi32(acc.v, more), shift)};
}

ETCH_INLINE I32 correct_where(I32 q, I32 acc, const int32_t* p) {
  const __mmask16 here = _mm512_cmpeq_epi32_mask(acc.v, _mm512_loadu_si512(p));
  return {_mm512_mask_add_epi32(q.v, here, q.v, _mm512_loadu_si512(p + 16))};
}

ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  return by_lanes::float_product(q, acc, p);
}

}  // namespace avx512_vnni
}  // namespace etch
