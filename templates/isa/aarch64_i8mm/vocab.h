// The verbs of generated code for 64-bit Arm with I8MM: usdot multiplies unsigned by signed bytes,
// which is what activations and weights are. The other verbs are in etch_neon.h.
#pragma once

#if defined(__GNUC__) && !defined(__ARM_FEATURE_MATMUL_INT8)
#error "etch: compile this file with -march=armv8.2-a+dotprod+i8mm"
#endif

#include "etch_neon.h"

namespace etch {
namespace aarch64_i8mm {

using namespace neon;

struct X4 {
  uint8x16_t v;
};
struct W4 {
  int8x16_t v;
};
struct QuadX {
  X4 v0, v1, v2, v3;
};

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  return {vreinterpretq_u8_u32(vdupq_n_u32(load_four(x)))};
}

ETCH_INLINE X4 broadcast8(const uint8_t* x) { return {vcombine_u8(vld1_u8(x), vld1_u8(x))}; }

ETCH_INLINE W4 load_w4(const uint8_t* w) { return {vreinterpretq_s8_u8(vld1q_u8(w))}; }
ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) { return {vusdotq_s32(acc.v, x.v, w.v)}; }

ETCH_INLINE W4 load_byte_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE I32 dot4_moved(I32 acc, X4 x, W4 w) { return dot4(acc, x, w); }

ETCH_INLINE I32 dot4_lane(I32 acc, Bytes x, int group, W4 w) {
  if (group == 0) return {vsudotq_laneq_s32(acc.v, w.v, x.v, 0)};
  if (group == 1) return {vsudotq_laneq_s32(acc.v, w.v, x.v, 1)};
  if (group == 2) return {vsudotq_laneq_s32(acc.v, w.v, x.v, 2)};
  return {vsudotq_laneq_s32(acc.v, w.v, x.v, 3)};
}

ETCH_INLINE I32 dot_squares(I32 acc, Bytes x, Bytes w) {
  return {vusmmlaq_s32(acc.v, x.v, vreinterpretq_s8_u8(w.v))};
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const QuadBytes rows = interleaved(r0, r1, r2, r3);
  return {{rows.v0}, {rows.v1}, {rows.v2}, {rows.v3}};
}

}  // namespace aarch64_i8mm
}  // namespace etch
