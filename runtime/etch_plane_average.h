// Averages of whole planes of bytes: QLinearGlobalAveragePool where the channels of an image are
// one after the other, as files have them. C++17, freestanding, no heap, no state, the same bytes
// everywhere. Arithmetic: docs/spec/qlinear.md section 6.5.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_convert.h"
#include "etch_float.h"
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

// What vectors add of n bytes; `done` says how many that were.
ETCH_INLINE uint32_t sum_in_vectors(const uint8_t* x, ptrdiff_t n, ptrdiff_t& done) {
  ptrdiff_t i = 0;
  uint64_t part[8] = {};
#if defined(__GNUC__) && defined(__AVX512BW__)
  __m512i sums = _mm512_setzero_si512();
  for (; i + 64 <= n; i += 64)
    sums =
        _mm512_add_epi64(sums, _mm512_sad_epu8(_mm512_loadu_si512(x + i), _mm512_setzero_si512()));
  ETCH_MEMCPY(part, &sums, sizeof sums);
#elif defined(__GNUC__) && defined(__AVX2__)
  __m256i sums = _mm256_setzero_si256();
  for (; i + 32 <= n; i += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
  }
  ETCH_MEMCPY(part, &sums, sizeof sums);
#elif defined(__GNUC__) && defined(__SSE2__)
  __m128i sums = _mm_setzero_si128();
  for (; i + 16 <= n; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    sums = _mm_add_epi64(sums, _mm_sad_epu8(bytes, _mm_setzero_si128()));
  }
  ETCH_MEMCPY(part, &sums, sizeof sums);
#endif
  static_cast<void>(x);
  static_cast<void>(n);
  done = i;
  uint64_t sum = 0;
  for (const uint64_t each : part) sum += each;
  return static_cast<uint32_t>(sum);
}

// y[p]: the sum of the n bytes of plane p plus `start`, modulo 2^32, times `scale`, rounded, plus
// the zero point, limited to the range; all as stored.
static inline void average_planes(const uint8_t* x, uint8_t* y, int planes, int n, int32_t start,
                                  float scale, int32_t zero_point, Range range) {
  for (int p = 0; p < planes; ++p, x += n) {
    ptrdiff_t i = 0;
    uint32_t sum = static_cast<uint32_t>(start) + sum_in_vectors(x, n, i);
    for (; i < n; ++i) sum += x[i];
    const float scaled = opaque(static_cast<float>(static_cast<int32_t>(sum)) * scale);
    y[p] = static_cast<uint8_t>(clamp_round_offset(scaled, zero_point, range.low, range.high));
  }
}

}  // namespace rt
}  // namespace etch
