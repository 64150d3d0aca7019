// Bytes through tables of 256: y[i] = table[x[i]]. Vectors of x86 and AArch64 look up pieces of the
// table and choose between them; the rest goes one by one. C++17, freestanding, no heap, no state,
// the same bytes everywhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

#if defined(__GNUC__) && defined(__AVX512BW__)
// The table as words of two entries, in four registers.
struct WordTable {
  __m512i word[4];
};

// table[low byte] of every word of x, in the low byte; the high byte is 0.
ETCH_INLINE __m512i entries_of(const WordTable& t, __m512i x) {
  const __m512i at = _mm512_srli_epi16(x, 1);  // six bits of it count
  const __m512i low = _mm512_permutex2var_epi16(t.word[0], at, t.word[1]);
  const __m512i high = _mm512_permutex2var_epi16(t.word[2], at, t.word[3]);
  const __mmask32 is_high = _mm512_test_epi16_mask(x, _mm512_set1_epi16(0x80));
  const __mmask32 is_odd = _mm512_test_epi16_mask(x, _mm512_set1_epi16(1));
  const __m512i two = _mm512_mask_blend_epi16(is_high, low, high);
  const __m512i one = _mm512_mask_srli_epi16(two, is_odd, two, 8);
  return _mm512_and_si512(one, _mm512_set1_epi16(0xff));
}

// 64 bytes at a time; returns how many were looked up.
static inline ptrdiff_t lookup_vectors(const uint8_t* x, uint8_t* y, const uint8_t* table,
                                       ptrdiff_t n) {
  if (n < 64) return 0;
  const WordTable t = {{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                        _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)}};
  ptrdiff_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i bytes = _mm512_loadu_si512(x + i);
    const __m512i even = entries_of(t, _mm512_and_si512(bytes, _mm512_set1_epi16(0xff)));
    const __m512i odd = entries_of(t, _mm512_srli_epi16(bytes, 8));
    _mm512_storeu_si512(y + i, _mm512_or_si512(even, _mm512_slli_epi16(odd, 8)));
  }
  return i;
}

#elif defined(__GNUC__) && defined(__AVX2__)
// 16 entries, in both halves; of all but the first of eight their bits that differ from those of
// the 16 before.
ETCH_INLINE __m256i sixteen_entries(const uint8_t* table, int k) {
  const __m128i own = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * k));
  if (k % 8 == 0) return _mm256_broadcastsi128_si256(own);
  const __m128i before = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * k - 16));
  return _mm256_broadcastsi128_si256(_mm_xor_si128(own, before));
}

// Of 128 entries those from 16 k on: x counts from there, and is negative where it is before, for
// which a shuffle gives 0.
template <int k = 0>
ETCH_INLINE __m256i entries_of(const __m256i* table, __m256i x) {
  const __m256i own = _mm256_shuffle_epi8(table[k], x);
  if constexpr (k == 7) {
    return own;
  } else {
    const __m256i rest = _mm256_subs_epi8(x, _mm256_set1_epi8(16));
    return _mm256_xor_si256(own, entries_of<k + 1>(table, rest));
  }
}

// 32 bytes at a time; returns how many were looked up.
static inline ptrdiff_t lookup_vectors(const uint8_t* x, uint8_t* y, const uint8_t* table,
                                       ptrdiff_t n) {
  if (n < 128) return 0;  // less than what preparing the table takes
  __m256i entries[16];
  for (int k = 0; k < 16; ++k) entries[k] = sixteen_entries(table, k);
  ptrdiff_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    const __m256i low = entries_of(entries, bytes);
    const __m256i top = _mm256_set1_epi8(-128);
    const __m256i high = entries_of(entries + 8, _mm256_xor_si256(bytes, top));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), _mm256_xor_si256(low, high));
  }
  return i;
}

#elif defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON)
// 16 bytes at a time; returns how many were looked up. A quarter of the table gives 0 where the
// byte, which counts from its first entry, is not in it.
static inline ptrdiff_t lookup_vectors(const uint8_t* x, uint8_t* y, const uint8_t* table,
                                       ptrdiff_t n) {
  if (n < 32) return 0;
  const uint8x16x4_t a = vld1q_u8_x4(table), b = vld1q_u8_x4(table + 64);
  const uint8x16x4_t c = vld1q_u8_x4(table + 128), d = vld1q_u8_x4(table + 192);
  const uint8x16_t quarter = vdupq_n_u8(64);
  ptrdiff_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const uint8x16_t first = vld1q_u8(x + i);
    const uint8x16_t second = vsubq_u8(first, quarter);
    const uint8x16_t third = vsubq_u8(second, quarter);
    const uint8x16_t fourth = vsubq_u8(third, quarter);
    uint8x16_t found = vqtbl4q_u8(a, first);
    found = vqtbx4q_u8(found, b, second);
    found = vqtbx4q_u8(found, c, third);
    vst1q_u8(y + i, vqtbx4q_u8(found, d, fourth));
  }
  return i;
}

#else
static inline ptrdiff_t lookup_vectors(const uint8_t*, uint8_t*, const uint8_t*, ptrdiff_t) {
  return 0;
}
#endif

// y[i] = table[x[i]] for 256 entries; x and y may be the same.
static inline void lookup(const uint8_t* x, uint8_t* y, const uint8_t* table, int n) {
  for (ptrdiff_t i = lookup_vectors(x, y, table, n); i < n; ++i) y[i] = table[x[i]];
}

}  // namespace rt
}  // namespace etch
