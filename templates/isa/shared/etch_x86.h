// What the vocabularies for x86 have in common: loads and stores of a part of a 128-bit
// register. Included by vocab.h alone, whose file says for which instructions it is compiled.
// Functions are static: files for different instruction sets can be linked together.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_by_lanes.h"
#include "etch_float.h"  // macros; also refuses -ffast-math
#include "etch_intrinsics.h"

namespace etch {
namespace x86 {

// The same pointer, of unknown origin to the compiler: loads remain after this point.
template <class T>
ETCH_INLINE T* base(T* p) {
#if defined(__GNUC__)
  __asm__ volatile("" : "+r"(p));
#endif
  return p;
}

using by_lanes::load_word_n;
using by_lanes::store_word_n;

// n <= 16 bytes, the rest 0.
ETCH_INLINE __m128i load_xmm_n(const uint8_t* p, int n) {
  const void* const from = p;
  if (n >= 16) return _mm_loadu_si128(static_cast<const __m128i*>(from));
  if (n < 8) return _mm_cvtsi64_si128(static_cast<long long>(load_word_n(p, n)));
  const __m128i low = _mm_loadl_epi64(static_cast<const __m128i*>(from));
  if (n == 8) return low;
  return _mm_insert_epi64(low, static_cast<long long>(load_word_n(p + 8, n - 8)), 1);
}

// v with its bytes first .. first + n - 1 from p, n > 0. In four places the bytes are blended in
// where they belong, otherwise they are moved there.
ETCH_INLINE __m128i insert_xmm(__m128i v, const uint8_t* p, int first, int n) {
  const __m128i from = load_xmm_n(p, n);
  if (n == 16) return from;
  if (n == 8 && first == 0) return _mm_blend_epi16(v, from, 0x0F);
  if (n == 8 && first == 8) return _mm_unpacklo_epi64(v, from);
  if (n == 4 && first == 0) return _mm_blend_epi16(v, from, 0x03);
  if (n == 4 && first == 4) return _mm_blend_epi16(v, _mm_shuffle_epi32(from, 0), 0x0C);
  if (n == 4 && first == 8) return _mm_blend_epi16(v, _mm_shuffle_epi32(from, 0), 0x30);
  if (n == 4 && first == 12) return _mm_blend_epi16(v, _mm_shuffle_epi32(from, 0), 0xC0);
  const __m128i place = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i source = _mm_sub_epi8(place, _mm_set1_epi8(static_cast<char>(first)));
  const __m128i here = _mm_and_si128(_mm_cmpgt_epi8(source, _mm_set1_epi8(-1)),
                                     _mm_cmplt_epi8(source, _mm_set1_epi8(static_cast<char>(n))));
  return _mm_blendv_epi8(v, _mm_shuffle_epi8(from, source), here);
}

// The first n <= 16 bytes.
ETCH_INLINE void store_xmm_n(uint8_t* p, __m128i v, int n) {
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

#if defined(__AVX512BW__) && defined(__AVX512VL__)
// The bytes that the mask chooses, the rest 0. The builtin is what the intrinsic is made of, whose
// header is left out.
ETCH_INLINE __m128i load_xmm_masked(__mmask16 mask, const uint8_t* p) {
#if ETCH_FEW_INTRINSICS
  const void* const from = p;
  const __v16qi zeros = reinterpret_cast<__v16qi>(_mm_setzero_si128());
  return reinterpret_cast<__m128i>(
      __builtin_ia32_loaddquqi128_mask(static_cast<const char*>(from), zeros, mask));
#else
  return _mm_maskz_loadu_epi8(mask, p);
#endif
}
#endif

}  // namespace x86
}  // namespace etch
