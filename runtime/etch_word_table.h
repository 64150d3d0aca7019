// A function of 16-bit values without a table of 65,536 entries: the values, in their order, are
// divided into segments of 2^bits. Along a segment results are a line, cut off to an integer, plus
// 0 to 3, which is kept in two bits of each value. Segments for which that is not enough have
// their results as they are. Integers alone, so the same everywhere. C++17, freestanding, no heap,
// no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

// Of a segment, two numbers each: the result before what is added, and its slope in units of
// 2^-14; or where its results begin in `listed`, and kListedSegment.
constexpr int32_t kListedSegment = INT32_MIN;

// What a table consists of: `added` has two bits for each of the 65,536 values, `segments` two
// numbers for each segment, `listed` the results of as many values as segments refer to.
template <class T>
struct WordLines {
  int32_t bits;
  const int32_t* segments;
  const uint8_t* added;
  const T* listed;
};

// The number of the first value: T is int16_t, whose first is -32768, or uint16_t.
template <class T>
constexpr int32_t first_word() {
  return T{0} < static_cast<T>(-1) ? 0 : 0x8000;
}

template <class T>
ETCH_INLINE T table_word(const WordLines<T>& t, T x) {
  const int32_t value = static_cast<uint16_t>(x) ^ first_word<T>();
  const int32_t* const segment = t.segments + 2 * (value >> t.bits);
  const int32_t along = value & ((1 << t.bits) - 1);
  if (segment[1] == kListedSegment) return t.listed[segment[0] + along];
  const int32_t more = (t.added[value >> 2] >> (2 * (value & 3))) & 3;
  return static_cast<T>(segment[0] + ((segment[1] * along) >> 14) + more);
}

#if defined(__GNUC__) && defined(__AVX2__)
#if defined(__AVX512BW__)
constexpr int kTableLanes = 16;
#else
constexpr int kTableLanes = 8;
#endif
typedef int32_t TableVector __attribute__((vector_size(4 * kTableLanes)));
typedef uint32_t TableBits __attribute__((vector_size(4 * kTableLanes)));

// 32 bits each at p + 4 * at.
ETCH_INLINE TableVector gathered(const void* p, TableVector at) {
  const auto* const from = static_cast<const int32_t*>(p);
#if defined(__AVX512BW__)
  return reinterpret_cast<TableVector>(_mm512_mask_i32gather_epi32(
      _mm512_setzero_si512(), 0xffff, reinterpret_cast<__m512i>(at), from, 4));
#else
  return reinterpret_cast<TableVector>(
      _mm256_i32gather_epi32(from, reinterpret_cast<__m256i>(at), 4));
#endif
}
ETCH_INLINE bool has_listed(TableVector slope) {
#if defined(__AVX512BW__)
  return _mm512_cmpeq_epi32_mask(reinterpret_cast<__m512i>(slope),
                                 _mm512_set1_epi32(kListedSegment)) != 0;
#else
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(reinterpret_cast<__m256i>(slope),
                                                 _mm256_set1_epi32(kListedSegment))) != 0;
#endif
}

// As many as fill vectors; returns how many.
template <class T>
ETCH_INLINE ptrdiff_t table_vectors(const WordLines<T>& t, const T* x, T* y, ptrdiff_t n) {
  typedef uint16_t Words __attribute__((vector_size(2 * kTableLanes)));
  const ptrdiff_t vectors = n - n % kTableLanes;
  const int32_t last = (1 << t.bits) - 1;
  for (ptrdiff_t i = 0; i < vectors; i += kTableLanes) {
    Words words;
    ETCH_MEMCPY(&words, x + i, sizeof words);
    const TableVector value = __builtin_convertvector(words, TableVector) ^ first_word<T>();
    const TableVector segment = (value >> t.bits) * 2;
    const TableVector slope = gathered(t.segments, segment + 1);
    if (has_listed(slope)) {
      for (ptrdiff_t k = i; k < i + kTableLanes; ++k) y[k] = table_word(t, x[k]);
      continue;
    }
    const auto pairs = reinterpret_cast<TableBits>(gathered(t.added, value >> 4));
    const TableBits more = (pairs >> reinterpret_cast<TableBits>((value & 15) * 2)) & 3;
    const TableVector along = value & last;
    const TableVector line = gathered(t.segments, segment) + ((slope * along) >> 14);
    const Words result = __builtin_convertvector(line + reinterpret_cast<TableVector>(more), Words);
    ETCH_MEMCPY(y + i, &result, sizeof result);
  }
  return vectors;
}
#else
template <class T>
ETCH_INLINE ptrdiff_t table_vectors(const WordLines<T>&, const T*, T*, ptrdiff_t) {
  return 0;
}
#endif

// y[i] = f(x[i]).
template <class T>
static inline void table_words(int32_t bits, const int32_t* segments, const uint8_t* added,
                               const T* listed, const T* x, T* y, ptrdiff_t n) {
  const WordLines<T> table = {bits, segments, added, listed};
  for (ptrdiff_t i = table_vectors(table, x, y, n); i < n; ++i) y[i] = table_word(table, x[i]);
}

}  // namespace rt
}  // namespace etch
