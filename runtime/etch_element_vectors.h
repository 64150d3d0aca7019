// Elements of 4 and 8 bytes in the vectors of AVX-512 and AVX2, where there is ETCH_ELEMENTS:
// loaded or repeated, chosen by bytes that are conditions, and truth as bytes. C++17, freestanding,
// no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_intrinsics.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// In which form elements are chosen, so that no instruction changes their bits.
template <class T>
struct BitsOf {
  typedef T Int;
};
template <>
struct BitsOf<float> {
  typedef int32_t Int;
};
template <>
struct BitsOf<uint32_t> {
  typedef int32_t Int;
};
template <>
struct BitsOf<uint64_t> {
  typedef int64_t Int;
};

template <class T>
ETCH_INLINE typename BitsOf<T>::Int bits_at(const T* p) {
  typename BitsOf<T>::Int bits;
  ETCH_MEMCPY(&bits, p, sizeof bits);
  return bits;
}

#if defined(__GNUC__) && defined(__AVX512F__)
// ---- the elements of a vector of 64 bytes ----
#define ETCH_ELEMENTS 1
typedef __m512i ElementVector;

// Forms with a mask, because gcc 12 warns of what the others leave undefined.
static constexpr __mmask16 kEach32 = 0xffff;
static constexpr __mmask8 kEach64 = 0xff;

ETCH_INLINE __m512i repeat_element(int32_t x) { return _mm512_set1_epi32(x); }
ETCH_INLINE __m512i repeat_element(int64_t x) { return _mm512_set1_epi64(x); }

// a where the byte is not 0, else b.
ETCH_INLINE __m512i choose_elements(const uint8_t* bytes, __m512i a, __m512i b, int32_t) {
  const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(bytes));
  const __m512i where = _mm512_maskz_cvtepu8_epi32(kEach32, some);
  return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(where, where), b, a);
}
ETCH_INLINE __m512i choose_elements(const uint8_t* bytes, __m512i a, __m512i b, int64_t) {
  const __m128i some = _mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(bytes));
  const __m512i where = _mm512_maskz_cvtepu8_epi64(kEach64, some);
  return _mm512_mask_blend_epi64(_mm512_test_epi64_mask(where, where), b, a);
}

// 1 or 0 of each that is -1 or 0.
ETCH_INLINE void store_truth(uint8_t* y, __m512i holds, int32_t) {
  const __m512i ones = _mm512_maskz_srli_epi32(kEach32, holds, 31);
  _mm_storeu_si128(reinterpret_cast<__m128i_u*>(y), _mm512_maskz_cvtepi32_epi8(kEach32, ones));
}
ETCH_INLINE void store_truth(uint8_t* y, __m512i holds, int64_t) {
  const __m512i ones = _mm512_maskz_srli_epi64(kEach64, holds, 63);
  _mm_storel_epi64(reinterpret_cast<__m128i_u*>(y), _mm512_maskz_cvtepi64_epi8(kEach64, ones));
}
#elif defined(__GNUC__) && defined(__AVX2__)
// ---- the elements of a vector of 32 bytes ----
#define ETCH_ELEMENTS 1
typedef __m256i ElementVector;

ETCH_INLINE __m256i repeat_element(int32_t x) { return _mm256_set1_epi32(x); }
ETCH_INLINE __m256i repeat_element(int64_t x) { return _mm256_set1_epi64x(x); }

// a where the byte is not 0, else b.
ETCH_INLINE __m256i choose_elements(const uint8_t* bytes, __m256i a, __m256i b, int32_t) {
  const __m128i some = _mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(bytes));
  const __m128i others = _mm_cmpeq_epi8(some, _mm_setzero_si128());
  return _mm256_blendv_epi8(a, b, _mm256_cvtepi8_epi32(others));
}
ETCH_INLINE __m256i choose_elements(const uint8_t* bytes, __m256i a, __m256i b, int64_t) {
  int32_t four;
  ETCH_MEMCPY(&four, bytes, sizeof four);
  const __m128i others = _mm_cmpeq_epi8(_mm_cvtsi32_si128(four), _mm_setzero_si128());
  return _mm256_blendv_epi8(a, b, _mm256_cvtepi8_epi64(others));
}

// 1 or 0 of each that is -1 or 0.
ETCH_INLINE void store_truth(uint8_t* y, __m256i holds, int32_t) {
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(holds), _mm256_extracti128_si256(holds, 1));
  const __m128i ones = _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
  _mm_storel_epi64(reinterpret_cast<__m128i_u*>(y), ones);
}
ETCH_INLINE void store_truth(uint8_t* y, __m256i holds, int64_t) {
  const __m128i pairs =
      _mm_packs_epi32(_mm256_castsi256_si128(holds), _mm256_extracti128_si256(holds, 1));
  const __m128i words = _mm_packs_epi32(pairs, pairs);
  const __m128i ones = _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
  const int32_t four = _mm_cvtsi128_si32(ones);
  ETCH_MEMCPY(y, &four, sizeof four);
}
#endif

#if defined(ETCH_ELEMENTS)
ETCH_INLINE bool fills_vectors(ptrdiff_t step) { return step == 0 || step == 1; }

// From p on, or with a step of 0 always the first.
template <class T>
ETCH_INLINE ElementVector load_elements(const T* p, ptrdiff_t step) {
  if (step == 0) return repeat_element(bits_at(p));
  ElementVector some;
  ETCH_MEMCPY(&some, p, sizeof some);
  return some;
}
#endif

}  // namespace rt
}  // namespace etch
