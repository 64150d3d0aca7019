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
// Byte k of each of 4 lanes in 16 bits, k = 0 below 1 and 2 below 3; and what dot4_moved takes:
// x - 128 in pairs, bytes 0 and 1 of every lane, then bytes 2 and 3. Only one of both is used.
struct Lanes4 {
  int16x8_t k01, k23;
  int8x16_t pairs;
};
struct W4 {
  int16x8_t k01, k23;
  int8x16_t pairs;
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
          vreinterpretq_s16_u16(vmovl_high_u8(by_byte)), vdupq_n_s8(0)};
}

// From the bytes of one lane after those of the other.
ETCH_INLINE W4 load_w4(const uint8_t* w) {
  const int8x16_t by_byte =
      vreinterpretq_s8_u8(shuffled({vld1q_u8(w)}, 0x0D0905010C080400u, 0x0F0B07030E0A0602u).v);
  return {vmovl_s8(vget_low_s8(by_byte)), vmovl_high_s8(by_byte), vdupq_n_s8(0)};
}

ETCH_INLINE W4 load_byte_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) {
  return {vdupq_n_s16(0), vdupq_n_s16(0), vreinterpretq_s8_u8(vld1q_u8(w))};
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

// Two products of bytes fit 16 bits unless both are of -128 and -128: fits_in_pairs() excludes
// that.
ETCH_INLINE I32 add_products(I32 acc, int8x16_t x, int8x16_t w) {
#if defined(__clang__)
  // clang moves high halves into low ones before it multiplies, a fifth more instructions.
  int16x8_t two;
  __asm__("smull %0.8h, %1.8b, %2.8b\n\tsmlal2 %0.8h, %1.16b, %2.16b"
          : "=&w"(two)
          : "w"(x), "w"(w));
#else
  const int16x8_t two = vmlal_high_s8(vmull_s8(vget_low_s8(x), vget_low_s8(w)), x, w);
#endif
  return {vpadalq_s16(acc.v, two)};
}

ETCH_INLINE I32 dot4_moved(I32 acc, Lanes4 x, W4 w) { return add_products(acc, x.pairs, w.pairs); }

ETCH_INLINE I32 dot4_moved(I32 acc, X4 x, W4 w) {
  const uint8x8_t four = vmovn_u16(vreinterpretq_u16_s16(vcombine_s16(x.v, x.v)));
  const Bytes moved = {veorq_u8(vcombine_u8(four, four), vdupq_n_u8(0x80))};
  const Bytes pairs = shuffled(moved, 0x0100010001000100u, 0x0302030203020302u);
  return add_products(acc, vreinterpretq_s8_u8(pairs.v), w.pairs);
}

ETCH_INLINE I32 dot4_lane(I32 acc, Bytes x, int group, W4 w) {
  const uint64_t first = 0x0404040404040404u * static_cast<uint64_t>(group);
  const Bytes pairs = shuffled(x, 0x0100010001000100u + first, 0x0302030203020302u + first);
  return add_products(acc, vreinterpretq_s8_u8(pairs.v), w.pairs);
}

ETCH_INLINE I32 dot_squares(I32 acc, Bytes x, Bytes w) { return {squares(acc.v, x.v, w.v)}; }

// The lower or upper halves of two registers in one.
ETCH_INLINE int16x8_t lower_halves(uint16x8_t a, uint16x8_t b) {
  return vreinterpretq_s16_u64(vzip1q_u64(vreinterpretq_u64_u16(a), vreinterpretq_u64_u16(b)));
}
ETCH_INLINE int16x8_t upper_halves(uint16x8_t a, uint16x8_t b) {
  return vreinterpretq_s16_u64(vzip2q_u64(vreinterpretq_u64_u16(a), vreinterpretq_u64_u16(b)));
}

// Pairs 0 and 1 of 4 lanes, then pairs 2 and 3.
ETCH_INLINE int8x16_t low_pairs(uint8x16_t k01, uint8x16_t k23) {
  return vreinterpretq_s8_u64(vzip1q_u64(vreinterpretq_u64_u8(k01), vreinterpretq_u64_u8(k23)));
}
ETCH_INLINE int8x16_t high_pairs(uint8x16_t k01, uint8x16_t k23) {
  return vreinterpretq_s8_u64(vzip2q_u64(vreinterpretq_u64_u8(k01), vreinterpretq_u64_u8(k23)));
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  const uint8x16_t far = vdupq_n_u8(0x80);
  const uint8x16_t m0 = veorq_u8(r0.v, far), m1 = veorq_u8(r1.v, far);
  const uint8x16_t m2 = veorq_u8(r2.v, far), m3 = veorq_u8(r3.v, far);
  const uint8x16_t low01 = vzip1q_u8(m0, m1), low23 = vzip1q_u8(m2, m3);
  const uint8x16_t high01 = vzip2q_u8(m0, m1), high23 = vzip2q_u8(m2, m3);
  const uint16x8_t a0 = vmovl_u8(vget_low_u8(r0.v)), b0 = vmovl_high_u8(r0.v);
  const uint16x8_t a1 = vmovl_u8(vget_low_u8(r1.v)), b1 = vmovl_high_u8(r1.v);
  const uint16x8_t a2 = vmovl_u8(vget_low_u8(r2.v)), b2 = vmovl_high_u8(r2.v);
  const uint16x8_t a3 = vmovl_u8(vget_low_u8(r3.v)), b3 = vmovl_high_u8(r3.v);
  return {{lower_halves(a0, a1), lower_halves(a2, a3), low_pairs(low01, low23)},
          {upper_halves(a0, a1), upper_halves(a2, a3), high_pairs(low01, low23)},
          {lower_halves(b0, b1), lower_halves(b2, b3), low_pairs(high01, high23)},
          {upper_halves(b0, b1), upper_halves(b2, b3), high_pairs(high01, high23)}};
}

}  // namespace aarch64
}  // namespace etch
