// What the vocabularies for 32-bit and 64-bit Arm have in common: vectors, which are 4 int32 or 16
// bytes, and the verbs that need no more than what both instruction sets have. Included by what
// adds the others, etch_neon.h or a vocab.h, alone. Every verb has the same meaning on every
// instruction set, down to rounding and saturation.
#pragma once

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_by_lanes.h"
#include "etch_float.h"  // macros; also refuses -ffast-math

namespace etch {
namespace neon {

struct I32 {
  int32x4_t v;
};
struct F32 {
  float32x4_t v;
};
struct Bytes {
  uint8x16_t v;
};
struct QuadI {
  I32 v0, v1, v2, v3;
};

// The same pointer, of unknown origin to the compiler: loads remain after this point.
template <class T>
ETCH_INLINE T* base(T* p) {
#if defined(__GNUC__)
  __asm__ volatile("" : "+r"(p));
#endif
  return p;
}

ETCH_INLINE uint32_t load_four(const uint8_t* p) {
  uint32_t four;
  ETCH_MEMCPY(&four, p, sizeof four);
  return four;
}

// ---- integers ----

ETCH_INLINE I32 zero_i32() { return {vdupq_n_s32(0)}; }
ETCH_INLINE I32 splat_i32(int v) { return {vdupq_n_s32(v)}; }
ETCH_INLINE I32 load_i32(const int32_t* p) { return {vld1q_s32(p)}; }
ETCH_INLINE I32 widened(uint8x8_t four) {
  return {vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(four))))};
}
ETCH_INLINE I32 add_i32(I32 acc, I32 v) { return {vaddq_s32(acc.v, v.v)}; }
ETCH_INLINE I32 repeat_u8(const uint8_t* p) { return {vdupq_n_s32(*p)}; }
ETCH_INLINE I32 sub_i32(I32 a, I32 b) { return {vsubq_s32(a.v, b.v)}; }
ETCH_INLINE void store_i32(int32_t* p, I32 v) { vst1q_s32(p, v.v); }

// ---- bytes ----

ETCH_INLINE Bytes load_bytes(const uint8_t* p) { return {vld1q_u8(p)}; }
ETCH_INLINE Bytes broadcast_bytes(const uint8_t* x) { return {vld1q_dup_u8(x)}; }
ETCH_INLINE Bytes splat_bytes(int v) { return {vdupq_n_u8(static_cast<uint8_t>(v))}; }
ETCH_INLINE Bytes max_bytes(Bytes a, Bytes b) { return {vmaxq_u8(a.v, b.v)}; }
ETCH_INLINE Bytes max_into(Bytes acc, Bytes v) { return max_bytes(acc, v); }
ETCH_INLINE Bytes min_bytes(Bytes a, Bytes b) { return {vminq_u8(a.v, b.v)}; }
ETCH_INLINE Bytes xor_bytes(Bytes a, Bytes b) { return {veorq_u8(a.v, b.v)}; }
ETCH_INLINE void store_bytes(uint8_t* p, Bytes b) { vst1q_u8(p, b.v); }
ETCH_INLINE void store_spread(uint8_t* p, Bytes b, int stride, int n) {
  uint8_t all[16];
  vst1q_u8(all, b.v);
  for (int i = 0; i < n; ++i) p[static_cast<ptrdiff_t>(i) * stride] = all[i];
}

// With 4 lanes the in-lane order is already each of these.
ETCH_INLINE Bytes arrange1(Bytes b) { return b; }
ETCH_INLINE Bytes arrange2(Bytes b) { return b; }
ETCH_INLINE Bytes arrange3(Bytes b) { return b; }
ETCH_INLINE QuadI natural4(I32 v0, I32 v1, I32 v2, I32 v3) { return {v0, v1, v2, v3}; }

// ---- floats ----

ETCH_INLINE F32 splat_f32(float v) { return {vdupq_n_f32(v)}; }
ETCH_INLINE F32 repeat_f32(const float* p) { return {vld1q_dup_f32(p)}; }
ETCH_INLINE F32 load_f32(const float* p) { return {vld1q_f32(p)}; }
ETCH_INLINE F32 to_f32(I32 v) { return {vcvtq_f32_s32(v.v)}; }
ETCH_INLINE I32 trunc_i32(F32 v) { return {vcvtq_s32_f32(v.v)}; }
ETCH_INLINE void store_f32(float* p, F32 v) { vst1q_f32(p, v.v); }

// ---- requantization without floats ----

ETCH_INLINE I32 correct_where(I32 q, I32 acc, const int32_t* p) {
  const int32x4_t here = vreinterpretq_s32_u32(vceqq_s32(acc.v, vld1q_s32(p)));
  return {vaddq_s32(q.v, vandq_s32(here, vld1q_s32(p + 4)))};
}

// A rare form, lane by lane.
ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  return by_lanes::float_product(q, acc, p);
}

}  // namespace neon
}  // namespace etch
