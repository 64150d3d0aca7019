// The verbs of generated code for x86-64 with AVX2 and FMA: one vector is 8 int32 or 32 bytes.
// Every verb has the same meaning on every instruction set, down to rounding and saturation.
// Products are exact: vpmaddubsw would saturate sums of two products to 16 bits, so bytes are
// widened to 16 bits and multiplied by vpmaddwd, except where weights are proved to fit
// (dot_sums16). The other verbs are in etch_ymm.h.
#pragma once

#if defined(__GNUC__) && !(defined(__AVX2__) && defined(__FMA__))
#error "etch: compile this file with -mavx2 -mfma"
#endif

#include "etch_by_lanes.h"
#include "etch_ymm.h"

namespace etch {
namespace avx2 {

using namespace ymm;

struct X4 {
  __m256i even, odd;
};  // bytes 0 and 2 of each lane as 16-bit words; bytes 1 and 3
struct W4 {
  __m256i even, odd;
};  // the same, signed
struct QuadX {
  X4 v0, v1, v2, v3;
};

// Lanes of 4 bytes as dot4 wants them.
ETCH_INLINE X4 split(__m256i lanes) {
  return {_mm256_and_si256(lanes, _mm256_set1_epi32(0x00FF00FF)), _mm256_srli_epi16(lanes, 8)};
}

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  int32_t four;
  ETCH_MEMCPY(&four, x, sizeof four);
  return split(_mm256_set1_epi32(four));
}

ETCH_INLINE X4 broadcast8(const uint8_t* x) { return split(load_eight(x)); }

ETCH_INLINE W4 load_w4(const uint8_t* w) { return {load_aligned(w), load_aligned(w + 32)}; }
ETCH_INLINE __m256i widened(const uint8_t* w) {
  return _mm256_cvtepi8_epi16(
      _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(w))));
}
ETCH_INLINE W4 load_byte_w4(const uint8_t* w) { return {widened(w), widened(w + 16)}; }

// Left alone, compilers gather all products of a tile and add them up last, far beyond the number
// of registers: hence opaque().
ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  const __m256i sum = _mm256_add_epi32(acc.v, _mm256_madd_epi16(x.even, w.even));
  return {opaque(_mm256_add_epi32(sum, _mm256_madd_epi16(x.odd, w.odd)))};
}

// Kernels use these where a target asks for them.
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE I32 dot4_moved(I32 acc, X4 x, W4 w) { return dot4(acc, x, w); }
ETCH_INLINE I32 dot4_lane(I32 acc, Bytes x, int group, W4 w) {
  return dot4(acc, broadcast4(by_lanes::stored(x).at + 4 * group), w);
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const __m256i low01 = _mm256_unpacklo_epi8(r0.v, r1.v);
  const __m256i high01 = _mm256_unpackhi_epi8(r0.v, r1.v);
  const __m256i low23 = _mm256_unpacklo_epi8(r2.v, r3.v);
  const __m256i high23 = _mm256_unpackhi_epi8(r2.v, r3.v);
  return {split(_mm256_unpacklo_epi16(low01, low23)), split(_mm256_unpackhi_epi16(low01, low23)),
          split(_mm256_unpacklo_epi16(high01, high23)),
          split(_mm256_unpackhi_epi16(high01, high23))};
}

}  // namespace avx2
}  // namespace etch
