// The verbs of generated code for x86-64 with AVX2 and FMA: one vector is 8 int32 or 32 bytes.
// Every verb has the same meaning on every instruction set, down to rounding and saturation.
// Products are exact: vpmaddubsw would saturate sums of two products to 16 bits, so bytes are
// widened to 16 bits and multiplied by vpmaddwd. Conversions follow MXCSR, which must say "round
// to nearest". n, first, zp and stride are meant to be literals, so that choosing between forms
// costs nothing.
#pragma once

#if defined(__GNUC__) && !(defined(__AVX2__) && defined(__FMA__))
#error "etch: compile this file with -mavx2 -mfma"
#endif
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "etch: exact float arithmetic is impossible with -ffast-math or a part of it"
#endif

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_integer.h"

#ifndef ETCH_INLINE
#if defined(__GNUC__)
#define ETCH_INLINE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define ETCH_INLINE static __forceinline
#else
#define ETCH_INLINE static inline
#endif
#endif

// With -ffreestanding the plain name means a call, even for 4 bytes.
#ifndef ETCH_MEMCPY
#if defined(__GNUC__)
#define ETCH_MEMCPY __builtin_memcpy
#else
#define ETCH_MEMCPY memcpy
#endif
#endif

namespace etch {
namespace avx2 {

struct I32 {
  __m256i v;
};
struct F32 {
  __m256 v;
};
struct X4 {
  __m256i even, odd;
};  // bytes 0 and 2 of each lane as 16-bit words; bytes 1 and 3
struct W4 {
  __m256i even, odd;
};  // likewise, signed
struct Bytes {
  __m256i v;
};
struct QuadX {
  X4 v0, v1, v2, v3;
};
struct QuadI {
  I32 v0, v1, v2, v3;
};

// The same pointer, of unknown origin to the compiler: loads stay behind this point.
template <class T>
ETCH_INLINE T* base(T* p) {
#if defined(__GNUC__)
  __asm__ volatile("" : "+r"(p));
#endif
  return p;
}

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

// n < 8 bytes as the low bytes of a word, the rest 0.
ETCH_INLINE uint64_t load_word_n(const uint8_t* p, int n) {
  uint64_t word = 0;
  int at = 0;
  if ((n & 4) != 0) {
    uint32_t four;
    ETCH_MEMCPY(&four, p, sizeof four);
    word = four;
    at = 4;
  }
  if ((n & 2) != 0) {
    uint16_t two;
    ETCH_MEMCPY(&two, p + at, sizeof two);
    word |= static_cast<uint64_t>(two) << (8 * at);
    at += 2;
  }
  if ((n & 1) != 0) word |= static_cast<uint64_t>(p[at]) << (8 * at);
  return word;
}

// n <= 16 bytes, the rest 0.
ETCH_INLINE __m128i load_half_n(const uint8_t* p, int n) {
  const void* const from = p;
  if (n >= 16) return _mm_loadu_si128(static_cast<const __m128i*>(from));
  if (n < 8) return _mm_cvtsi64_si128(static_cast<long long>(load_word_n(p, n)));
  const __m128i low = _mm_loadl_epi64(static_cast<const __m128i*>(from));
  if (n == 8) return low;
  return _mm_insert_epi64(low, static_cast<long long>(load_word_n(p + 8, n - 8)), 1);
}

// The low n < 8 bytes of a word.
ETCH_INLINE void store_word_n(uint8_t* p, uint64_t word, int n) {
  if ((n & 4) != 0) {
    const uint32_t four = static_cast<uint32_t>(word);
    ETCH_MEMCPY(p, &four, sizeof four);
    p += 4;
    word >>= 32;
  }
  if ((n & 2) != 0) {
    const uint16_t two = static_cast<uint16_t>(word);
    ETCH_MEMCPY(p, &two, sizeof two);
    p += 2;
    word >>= 16;
  }
  if ((n & 1) != 0) *p = static_cast<uint8_t>(word);
}

// The first n <= 16 bytes.
ETCH_INLINE void store_half_n(uint8_t* p, __m128i v, int n) {
  void* const to = p;
  if (n >= 16) {
    _mm_storeu_si128(static_cast<__m128i*>(to), v);
  } else if (n < 8) {
    store_word_n(p, static_cast<uint64_t>(_mm_cvtsi128_si64(v)), n);
  } else {
    _mm_storel_epi64(static_cast<__m128i*>(to), v);
    store_word_n(p + 8, static_cast<uint64_t>(_mm_extract_epi64(v, 1)), n - 8);
  }
}

// Lanes of 4 bytes as dot4 wants them.
ETCH_INLINE X4 split(__m256i lanes) {
  return {_mm256_and_si256(lanes, _mm256_set1_epi32(0x00FF00FF)), _mm256_srli_epi16(lanes, 8)};
}

// ---- integers and products ----

ETCH_INLINE I32 zero_i32() { return {_mm256_setzero_si256()}; }
ETCH_INLINE I32 splat_i32(int v) { return {_mm256_set1_epi32(v)}; }
ETCH_INLINE I32 load_i32(const int32_t* p) { return {load_aligned(p)}; }

ETCH_INLINE I32 load_u8(const uint8_t* p) { return {_mm256_cvtepu8_epi32(load_half_n(p, 8))}; }
ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) {
  return {_mm256_cvtepu8_epi32(load_half_n(p, n))};
}

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  int32_t four;
  ETCH_MEMCPY(&four, x, sizeof four);
  return split(_mm256_set1_epi32(four));
}

ETCH_INLINE W4 load_w4(const uint8_t* w) { return {load_aligned(w), load_aligned(w + 32)}; }

// Left alone, compilers gather all products of a tile and add them up last, far beyond the number
// of registers: hence opaque().
ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  const __m256i sum = _mm256_add_epi32(acc.v, _mm256_madd_epi16(x.even, w.even));
  return {opaque(_mm256_add_epi32(sum, _mm256_madd_epi16(x.odd, w.odd)))};
}

ETCH_INLINE I32 add_i32(I32 acc, I32 v) { return {_mm256_add_epi32(acc.v, v.v)}; }

// ---- bytes ----

ETCH_INLINE Bytes load_bytes(const uint8_t* p) { return {load_vector(p)}; }

ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) {
  if (n <= 16) return {_mm256_zextsi128_si256(load_half_n(p, n))};
  return {_mm256_set_m128i(load_half_n(p + 16, n - 16), load_half_n(p, 16))};
}

// n is 8 or 16: the bytes in all places, blended in where they belong.
ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  if (n == 16) {
    const __m256i all = _mm256_broadcastsi128_si256(load_half_n(p, 16));
    return {first == 0 ? _mm256_blend_epi32(b.v, all, 0x0F) : _mm256_blend_epi32(b.v, all, 0xF0)};
  }
  const __m256i all = _mm256_broadcastq_epi64(load_half_n(p, 8));
  if (first == 0) return {_mm256_blend_epi32(b.v, all, 0x03)};
  if (first == 8) return {_mm256_blend_epi32(b.v, all, 0x0C)};
  if (first == 16) return {_mm256_blend_epi32(b.v, all, 0x30)};
  return {_mm256_blend_epi32(b.v, all, 0xC0)};
}

ETCH_INLINE Bytes splat_bytes(int v) { return {_mm256_set1_epi8(static_cast<char>(v))}; }
ETCH_INLINE Bytes max_bytes(Bytes a, Bytes b) { return {_mm256_max_epu8(a.v, b.v)}; }
ETCH_INLINE Bytes max_into(Bytes acc, Bytes v) { return max_bytes(acc, v); }
ETCH_INLINE Bytes min_bytes(Bytes a, Bytes b) { return {_mm256_min_epu8(a.v, b.v)}; }
ETCH_INLINE Bytes xor_bytes(Bytes a, Bytes b) { return {_mm256_xor_si256(a.v, b.v)}; }

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const __m256i low01 = _mm256_unpacklo_epi8(r0.v, r1.v);
  const __m256i high01 = _mm256_unpackhi_epi8(r0.v, r1.v);
  const __m256i low23 = _mm256_unpacklo_epi8(r2.v, r3.v);
  const __m256i high23 = _mm256_unpackhi_epi8(r2.v, r3.v);
  return {split(_mm256_unpacklo_epi16(low01, low23)), split(_mm256_unpackhi_epi16(low01, low23)),
          split(_mm256_unpacklo_epi16(high01, high23)),
          split(_mm256_unpackhi_epi16(high01, high23))};
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

ETCH_INLINE Bytes interleave(Bytes b, int n) {
  const __m128i two = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i three = _mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 13, 14, 15);
  const __m128i four = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m128i order = n == 2 ? two : (n == 3 ? three : four);
  const Bytes lanes = {_mm256_shuffle_epi8(b.v, _mm256_broadcastsi128_si256(order))};
  if (n == 2) return {_mm256_permute4x64_epi64(lanes.v, 0xD8)};
  return n == 3 ? arrange3(lanes) : lanes;
}

ETCH_INLINE void store_bytes(uint8_t* p, Bytes b) { store_vector(p, b.v); }

// The first n <= 32 bytes.
ETCH_INLINE void store_bytes_n(uint8_t* p, __m256i v, int n) {
  if (n >= 32) {
    store_vector(p, v);
  } else if (n <= 16) {
    store_half_n(p, _mm256_castsi256_si128(v), n);
  } else {
    store_half_n(p, _mm256_castsi256_si128(v), 16);
    store_half_n(p + 16, _mm256_extracti128_si256(v, 1), n - 16);
  }
}

ETCH_INLINE void store_slice(uint8_t* p, Bytes b, int first, int n) {
  if (first == 0) {
    store_bytes_n(p, b.v, n);
  } else if (first == 8 && n == 8) {
    store_half_n(p, _mm_unpackhi_epi64(_mm256_castsi256_si128(b.v), _mm_setzero_si128()), 8);
  } else if (first == 16) {
    store_half_n(p, _mm256_extracti128_si256(b.v, 1), n);
  } else if (first == 24 && n == 8) {
    store_half_n(p, _mm_unpackhi_epi64(_mm256_extracti128_si256(b.v, 1), _mm_setzero_si128()), 8);
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

ETCH_INLINE I32 correct_where(I32 q, I32 acc, const int32_t* p) {
  const __m256i here = _mm256_cmpeq_epi32(acc.v, load_vector(p));
  return {_mm256_add_epi32(q.v, _mm256_and_si256(here, load_vector(p + 8)))};
}

ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  int32_t sum[8], result[8];
  store_i32(sum, acc);
  store_i32(result, q);
  rt::float_product_lanes(sum, p, result, 8);
  return {load_vector(result)};
}

}  // namespace avx2
}  // namespace etch
