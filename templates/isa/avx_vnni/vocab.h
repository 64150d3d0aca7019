// The verbs of generated code for x86-64 with AVX-VNNI (and AVX2, FMA): one vector is 8 int32 or 32
// bytes. Every verb has the same meaning on every instruction set, down to rounding and saturation.
// Activations are uint8 and weights int8, the only order in which vpdpbusd multiplies; its VEX form
// is what processors without AVX-512 have. The other verbs are in etch_ymm.h.
#pragma once

#if defined(__GNUC__) && !(defined(__AVX2__) && defined(__FMA__) && defined(__AVXVNNI__))
#error "etch: compile this file with -mavx2 -mfma -mavxvnni"
#endif

#include "etch_by_lanes.h"
#include "etch_ymm.h"

namespace etch {
namespace avx_vnni {

using namespace ymm;

struct X4 {
  __m256i v;
};
struct W4 {
  __m256i v;
};
struct QuadX {
  X4 v0, v1, v2, v3;
};

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  int32_t four;
  ETCH_MEMCPY(&four, x, sizeof four);
  return {_mm256_set1_epi32(four)};
}

ETCH_INLINE X4 broadcast8(const uint8_t* x) { return {load_eight(x)}; }

ETCH_INLINE W4 load_w4(const uint8_t* w) { return {load_vector(w)}; }
ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) { return {_mm256_dpbusd_avx_epi32(acc.v, x.v, w.v)}; }

// Kernels use these where a target asks for them.
ETCH_INLINE W4 load_byte_w4(const uint8_t* w) { return load_w4(w); }
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
  return {{_mm256_unpacklo_epi16(low01, low23)},
          {_mm256_unpackhi_epi16(low01, low23)},
          {_mm256_unpacklo_epi16(high01, high23)},
          {_mm256_unpackhi_epi16(high01, high23)}};
}

}  // namespace avx_vnni
}  // namespace etch
