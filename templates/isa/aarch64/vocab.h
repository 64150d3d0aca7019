// The verbs of generated code for 64-bit Arm with NEON and nothing else: products are widened to 16
// bits and multiplied there, four of them in one instruction, which adds them up in 32 bits. The
// other verbs are in etch_neon.h.
#pragma once

#include "etch_neon.h"

namespace etch {
namespace aarch64 {

using namespace neon;

// Four bytes for every lane, in 16 bits each: products take them from here one by one.
struct X4 {
  int16x4_t v;
};
// Byte k of each of 4 lanes in 16 bits, k = 0 below 1 and 2 below 3.
struct Lanes4 {
  int16x8_t k01, k23;
};
struct W4 {
  int16x8_t k01, k23;
};
struct QuadX {
  Lanes4 v0, v1, v2, v3;
};

ETCH_INLINE X4 broadcast4(const uint8_t* x) {
  return {vreinterpret_s16_u16(vget_low_u16(vmovl_u8(vcreate_u8(load_four(x)))))};
}

// No kernel asks for it where a vector has 4 lanes: their products with two groups of bytes take
// the form of interleave4's.
ETCH_INLINE Lanes4 broadcast8(const uint8_t* x) {
  const uint8x16_t by_lane = vcombine_u8(vld1_u8(x), vld1_u8(x));
  const uint8x16_t by_byte = shuffled({by_lane}, 0x0D0905010C080400u, 0x0F0B07030E0A0602u).v;
  return {vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(by_byte))),
          vreinterpretq_s16_u16(vmovl_high_u8(by_byte))};
}

// From the bytes of one lane after those of the other.
ETCH_INLINE W4 load_w4(const uint8_t* w) {
  const int8x16_t by_byte =
      vreinterpretq_s8_u8(shuffled({vld1q_u8(w)}, 0x0D0905010C080400u, 0x0F0B07030E0A0602u).v);
  return {vmovl_s8(vget_low_s8(by_byte)), vmovl_high_s8(by_byte)};
}

ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  int32x4_t sum = vmlal_lane_s16(acc.v, vget_low_s16(w.k01), x.v, 0);
  sum = vmlal_high_lane_s16(sum, w.k01, x.v, 1);
  sum = vmlal_lane_s16(sum, vget_low_s16(w.k23), x.v, 2);
  return {vmlal_high_lane_s16(sum, w.k23, x.v, 3)};
}

ETCH_INLINE I32 dot4(I32 acc, Lanes4 x, W4 w) {
  int32x4_t sum = vmlal_s16(acc.v, vget_low_s16(x.k01), vget_low_s16(w.k01));
  sum = vmlal_high_s16(sum, x.k01, w.k01);
  sum = vmlal_s16(sum, vget_low_s16(x.k23), vget_low_s16(w.k23));
  return {vmlal_high_s16(sum, x.k23, w.k23)};
}

// The lower or upper halves of two registers in one.
ETCH_INLINE int16x8_t lower_halves(uint16x8_t a, uint16x8_t b) {
  return vreinterpretq_s16_u64(vzip1q_u64(vreinterpretq_u64_u16(a), vreinterpretq_u64_u16(b)));
}
ETCH_INLINE int16x8_t upper_halves(uint16x8_t a, uint16x8_t b) {
  return vreinterpretq_s16_u64(vzip2q_u64(vreinterpretq_u64_u16(a), vreinterpretq_u64_u16(b)));
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const uint16x8_t a0 = vmovl_u8(vget_low_u8(r0.v)), b0 = vmovl_high_u8(r0.v);
  const uint16x8_t a1 = vmovl_u8(vget_low_u8(r1.v)), b1 = vmovl_high_u8(r1.v);
  const uint16x8_t a2 = vmovl_u8(vget_low_u8(r2.v)), b2 = vmovl_high_u8(r2.v);
  const uint16x8_t a3 = vmovl_u8(vget_low_u8(r3.v)), b3 = vmovl_high_u8(r3.v);
  return {{lower_halves(a0, a1), lower_halves(a2, a3)},
          {upper_halves(a0, a1), upper_halves(a2, a3)},
          {lower_halves(b0, b1), lower_halves(b2, b3)},
          {upper_halves(b0, b1), upper_halves(b2, b3)}};
}

}  // namespace aarch64
}  // namespace etch
