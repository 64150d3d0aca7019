// The verbs of generated code for 64-bit Arm with dot products. sdot multiplies signed bytes only:
// activations are moved by -128, and what that takes from a sum, 128 times the weights of its lane,
// is worked out once when the weights are loaded and added with every product. The other verbs are
// in etch_neon.h.
#pragma once

#if defined(__GNUC__) && !defined(__ARM_FEATURE_DOTPROD)
#error "etch: compile this file with -march=armv8.2-a+dotprod"
#endif

#include "etch_neon.h"

namespace etch {
namespace aarch64_dotprod {

using namespace neon;

struct X4 {
  int8x16_t v;  // x - 128
};
struct W4 {
  int8x16_t v;
  int32x4_t negated;  // -128 times the sum of each lane's weights
};
struct QuadX {
  X4 v0, v1, v2, v3;
};

ETCH_INLINE X4 moved(uint8x16_t x) { return {vreinterpretq_s8_u8(veorq_u8(x, vdupq_n_u8(0x80)))}; }

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  return moved(vreinterpretq_u8_u32(vdupq_n_u32(load_four(x))));
}

ETCH_INLINE X4 broadcast8(const uint8_t* x) { return moved(vcombine_u8(vld1_u8(x), vld1_u8(x))); }

ETCH_INLINE W4 load_w4(const uint8_t* w) {
  const int8x16_t v = vreinterpretq_s8_u8(vld1q_u8(w));
  return {v, vdotq_s32(vdupq_n_s32(0), v, vdupq_n_s8(-128))};
}

ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  return {vdotq_s32(vsubq_s32(acc.v, w.negated), x.v, w.v)};
}

ETCH_INLINE W4 load_byte_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) {
  return {vreinterpretq_s8_u8(vld1q_u8(w)), vdupq_n_s32(0)};
}
ETCH_INLINE I32 dot4_moved(I32 acc, X4 x, W4 w) { return {vdotq_s32(acc.v, w.v, x.v)}; }

ETCH_INLINE I32 dot4_lane(I32 acc, Bytes x, int group, W4 w) {
  const int8x16_t from = vreinterpretq_s8_u8(x.v);
  if (group == 0) return {vdotq_laneq_s32(acc.v, w.v, from, 0)};
  if (group == 1) return {vdotq_laneq_s32(acc.v, w.v, from, 1)};
  if (group == 2) return {vdotq_laneq_s32(acc.v, w.v, from, 2)};
  return {vdotq_laneq_s32(acc.v, w.v, from, 3)};
}

ETCH_INLINE I32 dot_squares(I32 acc, Bytes x, Bytes w) { return {squares(acc.v, x.v, w.v)}; }

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const QuadBytes rows = interleaved(r0, r1, r2, r3);
  return {moved(rows.v0), moved(rows.v1), moved(rows.v2), moved(rows.v3)};
}

}  // namespace aarch64_dotprod
}  // namespace etch
