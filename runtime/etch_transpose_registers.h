// Registers of 16 bytes whose elements are zipped, of SSE2 or 64-bit Arm, for etch_transpose.h:
// ETCH_TRANSPOSE_REGISTERS says that there are any.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

#if defined(__SSE2__) && defined(__AVX__)
#include "etch_intrinsics.h"
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#include "etch_intrinsics.h"
#endif

namespace etch {
namespace rt {

// low_bytes(a, b): a[0], b[0], a[1], ... of the lower halves, high_bytes() of the upper ones; the
// others do so with pairs of bytes, words of 4 and halves of 8.
#if defined(__SSE2__)
#define ETCH_TRANSPOSE_REGISTERS 1
typedef __m128i Register;

ETCH_INLINE Register low_bytes(Register a, Register b) { return _mm_unpacklo_epi8(a, b); }
ETCH_INLINE Register high_bytes(Register a, Register b) { return _mm_unpackhi_epi8(a, b); }
ETCH_INLINE Register low_pairs(Register a, Register b) { return _mm_unpacklo_epi16(a, b); }
ETCH_INLINE Register high_pairs(Register a, Register b) { return _mm_unpackhi_epi16(a, b); }
ETCH_INLINE Register low_words(Register a, Register b) { return _mm_unpacklo_epi32(a, b); }
ETCH_INLINE Register high_words(Register a, Register b) { return _mm_unpackhi_epi32(a, b); }
ETCH_INLINE Register low_halves(Register a, Register b) { return _mm_unpacklo_epi64(a, b); }
ETCH_INLINE Register high_halves(Register a, Register b) { return _mm_unpackhi_epi64(a, b); }

ETCH_INLINE Register all_bytes(int x) { return _mm_set1_epi8(static_cast<char>(x)); }
ETCH_INLINE Register either(Register a, Register b) { return _mm_xor_si128(a, b); }
ETCH_INLINE Register load_words(const uint8_t* x) {
  return _mm_loadu_si128(reinterpret_cast<const Register*>(x));
}
ETCH_INLINE void store_words(uint8_t* y, Register x) {
  _mm_storeu_si128(reinterpret_cast<Register*>(y), x);
}
// 8 bytes, the rest 0.
ETCH_INLINE Register load_half(const uint8_t* x) {
  return _mm_loadl_epi64(reinterpret_cast<const Register*>(x));
}
ETCH_INLINE void store_rows(uint8_t* y, ptrdiff_t y_row, Register rows) {
  _mm_storel_epi64(reinterpret_cast<Register*>(y), rows);
  double upper;  // not to y: in g++'s header that is a store of an aligned double
  _mm_storeh_pd(&upper, _mm_castsi128_pd(rows));
  ETCH_MEMCPY(y + y_row, &upper, sizeof upper);
}
ETCH_INLINE void store_word(uint8_t* y, Register x) {
  const int word = _mm_cvtsi128_si32(x);
  ETCH_MEMCPY(y, &word, sizeof word);
}
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define ETCH_TRANSPOSE_REGISTERS 1
typedef uint8x16_t Register;

ETCH_INLINE uint16x8_t in_pairs(Register x) { return vreinterpretq_u16_u8(x); }
ETCH_INLINE uint32x4_t in_words(Register x) { return vreinterpretq_u32_u8(x); }
ETCH_INLINE uint64x2_t in_halves(Register x) { return vreinterpretq_u64_u8(x); }

ETCH_INLINE Register low_bytes(Register a, Register b) { return vzip1q_u8(a, b); }
ETCH_INLINE Register high_bytes(Register a, Register b) { return vzip2q_u8(a, b); }
ETCH_INLINE Register low_pairs(Register a, Register b) {
  return vreinterpretq_u8_u16(vzip1q_u16(in_pairs(a), in_pairs(b)));
}
ETCH_INLINE Register high_pairs(Register a, Register b) {
  return vreinterpretq_u8_u16(vzip2q_u16(in_pairs(a), in_pairs(b)));
}
ETCH_INLINE Register low_words(Register a, Register b) {
  return vreinterpretq_u8_u32(vzip1q_u32(in_words(a), in_words(b)));
}
ETCH_INLINE Register high_words(Register a, Register b) {
  return vreinterpretq_u8_u32(vzip2q_u32(in_words(a), in_words(b)));
}
ETCH_INLINE Register low_halves(Register a, Register b) {
  return vreinterpretq_u8_u64(vzip1q_u64(in_halves(a), in_halves(b)));
}
ETCH_INLINE Register high_halves(Register a, Register b) {
  return vreinterpretq_u8_u64(vzip2q_u64(in_halves(a), in_halves(b)));
}

ETCH_INLINE Register all_bytes(int x) { return vdupq_n_u8(static_cast<uint8_t>(x)); }
ETCH_INLINE Register either(Register a, Register b) { return veorq_u8(a, b); }
ETCH_INLINE Register load_words(const uint8_t* x) { return vld1q_u8(x); }
ETCH_INLINE void store_words(uint8_t* y, Register x) { vst1q_u8(y, x); }
// 8 bytes, the rest 0.
ETCH_INLINE Register load_half(const uint8_t* x) { return vcombine_u8(vld1_u8(x), vcreate_u8(0)); }
ETCH_INLINE void store_rows(uint8_t* y, ptrdiff_t y_row, Register rows) {
  vst1_u8(y, vget_low_u8(rows));
  vst1_u8(y + y_row, vget_high_u8(rows));
}
ETCH_INLINE void store_word(uint8_t* y, Register x) {
  const uint32_t word = vgetq_lane_u32(in_words(x), 0);
  ETCH_MEMCPY(y, &word, sizeof word);
}
#endif

}  // namespace rt
}  // namespace etch
