// The verbs of generated code in portable C++: one vector is one int32 or 4 bytes. Every verb has
// the same meaning on every instruction set, down to rounding and saturation. Nothing here depends
// on the byte order of the machine, on libm or on the rounding mode. n, first, zp and stride are
// meant to be literals, so that choosing between forms costs nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_float.h"  // exact fma, opaque products; also refuses -ffast-math
#include "etch_integer.h"

// Arm cores without vectors that multiply two pairs of halfwords by one instruction.
#if defined(__GNUC__) && defined(__ARM_FEATURE_SIMD32) && !defined(__ARM_NEON) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ETCH_HALFWORD_PAIRS 1
#include <arm_acle.h>
#endif

namespace etch {
namespace scalar {

struct I32 {
  int32_t v;
};
struct F32 {
  float v;
};
#if defined(ETCH_HALFWORD_PAIRS)
// Bytes 0 and 2, 1 and 3 as halfwords.
struct X4 {
  int32_t even, odd;
};
struct W4 {
  int32_t even, odd;
};
#else
struct X4 {
  int32_t k0, k1, k2, k3;
};
struct W4 {
  int32_t k0, k1, k2, k3;
};
#endif
struct Bytes {
  uint8_t b0, b1, b2, b3;
};
struct QuadX {
  X4 v0, v1, v2, v3;
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

ETCH_INLINE int32_t wrapping_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

ETCH_INLINE int32_t clamp_i32(int32_t v, int32_t lo, int32_t hi) {
  return v < lo ? lo : (v > hi ? hi : v);
}

// ---- integers and products ----

ETCH_INLINE I32 zero_i32() { return {0}; }
ETCH_INLINE I32 splat_i32(int v) { return {v}; }
ETCH_INLINE I32 load_i32(const int32_t* p) { return {*p}; }
ETCH_INLINE I32 load_u8(const uint8_t* p) { return {*p}; }
ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) { return {n > 0 ? *p : 0}; }
ETCH_INLINE I32 load_i32_n(const int32_t* p, int n) { return {n > 0 ? *p : 0}; }
ETCH_INLINE I32 repeat_u8(const uint8_t* p) { return {*p}; }

ETCH_INLINE int32_t signed_byte(uint8_t b) { return static_cast<int8_t>(b); }

#if defined(ETCH_HALFWORD_PAIRS)
// What the compilers' __uxtb16() takes.
#if defined(__clang__)
typedef int8x4_t FourBytes;
#else
typedef uint8x4_t FourBytes;
#endif
ETCH_INLINE int32_t two_of(uint32_t bytes) {
  return static_cast<int32_t>(__uxtb16(static_cast<FourBytes>(bytes)));
}
ETCH_INLINE X4 halves_of(uint32_t bytes) { return {two_of(bytes), two_of(bytes >> 8)}; }
ETCH_INLINE uint32_t four_bytes(const uint8_t* p) {
  uint32_t bytes;
  ETCH_MEMCPY(&bytes, p, sizeof bytes);
  return bytes;
}
ETCH_INLINE X4 broadcast4(const uint8_t* x) { return halves_of(four_bytes(x)); }
ETCH_INLINE X4 four_of(Bytes x) {
  uint32_t bytes;
  ETCH_MEMCPY(&bytes, &x, sizeof bytes);
  return halves_of(bytes);
}
ETCH_INLINE W4 load_w4(const uint8_t* w) {
  W4 out;
  const uint32_t bytes = four_bytes(w);
  __asm__("sxtb16 %0, %1" : "=r"(out.even) : "r"(bytes));
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(out.odd) : "r"(bytes));
  return out;
}
ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  return {__smlad(x.even, w.even, __smlad(x.odd, w.odd, acc.v))};
}
#else
ETCH_INLINE X4 broadcast4(const uint8_t* x) { return {x[0], x[1], x[2], x[3]}; }
ETCH_INLINE X4 four_of(Bytes x) { return {x.b0, x.b1, x.b2, x.b3}; }
ETCH_INLINE W4 load_w4(const uint8_t* w) {
  return {signed_byte(w[0]), signed_byte(w[1]), signed_byte(w[2]), signed_byte(w[3])};
}
ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  return {wrapping_add(acc.v, x.k0 * w.k0 + x.k1 * w.k1 + x.k2 * w.k2 + x.k3 * w.k3)};
}
#endif
ETCH_INLINE X4 broadcast8(const uint8_t* x) { return broadcast4(x); }

ETCH_INLINE I32 add_i32(I32 acc, I32 v) { return {wrapping_add(acc.v, v.v)}; }

ETCH_INLINE I32 sub_i32(I32 a, I32 b) {
  return {static_cast<int32_t>(static_cast<uint32_t>(a.v) - static_cast<uint32_t>(b.v))};
}

ETCH_INLINE I32 add_pairs(I32 a, I32) { return a; }

// Kernels use these where a target asks for them.
ETCH_INLINE W4 load_byte_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) { return load_w4(w); }
ETCH_INLINE I32 dot4_moved(I32 acc, X4 x, W4 w) { return dot4(acc, x, w); }
ETCH_INLINE I32 dot4_lane(I32 acc, Bytes x, int, W4 w) { return dot4(acc, four_of(x), w); }
ETCH_INLINE I32 dot_squares(I32 acc, Bytes, Bytes) { return acc; }
ETCH_INLINE Bytes repeat4(const uint8_t* x) { return {x[0], x[1], x[2], x[3]}; }
ETCH_INLINE Bytes repeat4_at(const uint8_t* x, const uint8_t* at, int) {
  int32_t place;
  ETCH_MEMCPY(&place, at, sizeof place);
  return repeat4(x + place);
}
ETCH_INLINE I32 dot_sums16(I32 acc, Bytes x, Bytes w) {
  const uint8_t bytes[] = {w.b0, w.b1, w.b2, w.b3};
  return dot4(acc, four_of(x), load_w4(bytes));
}
ETCH_INLINE I32 low_halves(I32 a, I32) { return a; }
ETCH_INLINE I32 high_halves(I32, I32 b) { return b; }

// ---- bytes ----

ETCH_INLINE uint8_t max_u8(uint8_t a, uint8_t b) { return a > b ? a : b; }
ETCH_INLINE uint8_t min_u8(uint8_t a, uint8_t b) { return a < b ? a : b; }
ETCH_INLINE uint8_t xor_u8(uint8_t a, uint8_t b) { return static_cast<uint8_t>(a ^ b); }

ETCH_INLINE Bytes load_bytes(const uint8_t* p) { return {p[0], p[1], p[2], p[3]}; }

ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) {
  const uint8_t none = 0;
  return {n > 0 ? p[0] : none, n > 1 ? p[1] : none, n > 2 ? p[2] : none, n > 3 ? p[3] : none};
}

ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  const int end = first + n;
  return {first <= 0 && end > 0 ? p[0 - first] : b.b0, first <= 1 && end > 1 ? p[1 - first] : b.b1,
          first <= 2 && end > 2 ? p[2 - first] : b.b2, first <= 3 && end > 3 ? p[3 - first] : b.b3};
}

ETCH_INLINE Bytes broadcast_bytes(const uint8_t* x) { return {x[0], x[0], x[0], x[0]}; }

ETCH_INLINE Bytes splat_bytes(int v) {
  const uint8_t b = static_cast<uint8_t>(v);
  return {b, b, b, b};
}

ETCH_INLINE Bytes max_bytes(Bytes a, Bytes b) {
  return {max_u8(a.b0, b.b0), max_u8(a.b1, b.b1), max_u8(a.b2, b.b2), max_u8(a.b3, b.b3)};
}

ETCH_INLINE Bytes max_into(Bytes acc, Bytes v) { return max_bytes(acc, v); }
ETCH_INLINE Bytes min_bytes(Bytes a, Bytes b) {
  return {min_u8(a.b0, b.b0), min_u8(a.b1, b.b1), min_u8(a.b2, b.b2), min_u8(a.b3, b.b3)};
}

ETCH_INLINE Bytes xor_bytes(Bytes a, Bytes b) {
  return {xor_u8(a.b0, b.b0), xor_u8(a.b1, b.b1), xor_u8(a.b2, b.b2), xor_u8(a.b3, b.b3)};
}

ETCH_INLINE Bytes every_second(Bytes a, Bytes b, int n) {
  if (n == 2) return {a.b0, a.b1, b.b0, b.b1};
  return {a.b0, a.b2, b.b0, b.b2};
}

ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  return {four_of({r0.b0, r1.b0, r2.b0, r3.b0}), four_of({r0.b1, r1.b1, r2.b1, r3.b1}),
          four_of({r0.b2, r1.b2, r2.b2, r3.b2}), four_of({r0.b3, r1.b3, r2.b3, r3.b3})};
}

ETCH_INLINE QuadI widen4(Bytes b) { return {{b.b0}, {b.b1}, {b.b2}, {b.b3}}; }

ETCH_INLINE uint8_t narrow(int32_t v, int32_t zp) {
  const int32_t word = clamp_i32(v, -32768, 32767);
  return static_cast<uint8_t>(clamp_i32(word + zp, 0, 255));
}

ETCH_INLINE Bytes narrow4(I32 v0, I32 v1, I32 v2, I32 v3, int zp) {
  return {narrow(v0.v, zp), narrow(v1.v, zp), narrow(v2.v, zp), narrow(v3.v, zp)};
}

// With one lane the in-lane order is already each of these.
ETCH_INLINE Bytes arrange1(Bytes b) { return b; }
ETCH_INLINE Bytes arrange2(Bytes b) { return b; }
ETCH_INLINE Bytes arrange3(Bytes b) { return b; }

ETCH_INLINE QuadI natural4(I32 v0, I32 v1, I32 v2, I32 v3) { return {v0, v1, v2, v3}; }

ETCH_INLINE Bytes interleave(Bytes b, int) { return b; }

ETCH_INLINE Bytes unzip(Bytes b) { return b; }

ETCH_INLINE uint8_t byte_at(Bytes b, int i) {
  return i == 0 ? b.b0 : (i == 1 ? b.b1 : (i == 2 ? b.b2 : b.b3));
}

ETCH_INLINE void store_slice(uint8_t* p, Bytes b, int first, int n) {
  if (n > 0) p[0] = byte_at(b, first);
  if (n > 1) p[1] = byte_at(b, first + 1);
  if (n > 2) p[2] = byte_at(b, first + 2);
  if (n > 3) p[3] = byte_at(b, first + 3);
}

ETCH_INLINE void store_bytes(uint8_t* p, Bytes b) { store_slice(p, b, 0, 4); }

ETCH_INLINE void store_spread(uint8_t* p, Bytes b, int stride, int n) {
  const ptrdiff_t step = stride;
  if (n > 0) p[0] = b.b0;
  if (n > 1) p[step] = b.b1;
  if (n > 2) p[2 * step] = b.b2;
  if (n > 3) p[3 * step] = b.b3;
}

// ---- floats ----

ETCH_INLINE F32 splat_f32(float v) { return {v}; }
ETCH_INLINE F32 repeat_f32(const float* p) { return {*p}; }
ETCH_INLINE F32 load_f32(const float* p) { return {*p}; }
ETCH_INLINE F32 load_f32_n(const float* p, int n) { return {n > 0 ? *p : 0.0f}; }
ETCH_INLINE F32 to_f32(I32 v) { return {static_cast<float>(v.v)}; }
ETCH_INLINE F32 mul_f32(F32 a, F32 b) { return {rt::opaque(a.v * b.v)}; }
ETCH_INLINE F32 add_f32(F32 a, F32 b) { return {rt::opaque(a.v + b.v)}; }
ETCH_INLINE F32 add_into(F32 acc, F32 v) { return add_f32(acc, v); }
ETCH_INLINE F32 div_f32(F32 a, F32 b) { return {a.v / b.v}; }
ETCH_INLINE F32 sub_f32(F32 a, F32 b) { return {rt::opaque(a.v - b.v)}; }
ETCH_INLINE F32 abs_f32(F32 v) { return {rt::bits_float(rt::float_bits(v.v) & 0x7fffffffu)}; }
ETCH_INLINE F32 neg_f32(F32 v) { return {rt::bits_float(rt::float_bits(v.v) ^ 0x80000000u)}; }
ETCH_INLINE F32 at_least_f32(F32 v, F32 low) { return {v.v < low.v ? low.v : v.v}; }
ETCH_INLINE F32 at_most_f32(F32 v, F32 high) { return {high.v < v.v ? high.v : v.v}; }
ETCH_INLINE F32 max_f32(F32 a, F32 b) { return {a.v > b.v || rt::is_nan(a.v) ? a.v : b.v}; }
ETCH_INLINE F32 min_f32(F32 a, F32 b) { return {a.v < b.v || rt::is_nan(a.v) ? a.v : b.v}; }
ETCH_INLINE F32 unless_negative(F32 v, F32 other) { return {v.v >= 0.0f ? v.v : other.v}; }
ETCH_INLINE F32 fall_to(F32 acc, F32 v) { return at_most_f32(acc, v); }
ETCH_INLINE F32 rise_to(F32 acc, F32 v) { return at_least_f32(acc, v); }
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) { return {rt::fma_exact(a.v, b.v, c.v)}; }

// A comparison with NaN is false: hence this order, in which NaN becomes lo.
ETCH_INLINE F32 clamp_f32(F32 v, float lo, float hi) {
  const float above = v.v > lo ? v.v : lo;
  return {above < hi ? above : hi};
}

// The significand shifted to where the exponent wants it. From 2^23 on floats are integers. FPUs of
// Cortex-M have an instruction (vcvtr rounds as FPSCR says: to nearest even, unless changed).
ETCH_INLINE I32 round_i32(F32 v) {
#if defined(__GNUC__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
    defined(__ARM_FP) && (__ARM_FP & 4)
  float integer;  // its bits
  __asm__("vcvtr.s32.f32 %0, %1" : "=t"(integer) : "t"(v.v));
  return {static_cast<int32_t>(rt::float_bits(integer))};
#else
  const uint32_t bits = rt::float_bits(v.v);
  const uint32_t exponent = (bits >> 23) & 0xffu;
  if (exponent < 150u) return {rt::round_even(v.v)};
  const uint32_t magnitude = ((bits & 0x7fffffu) | 0x800000u) << ((exponent - 150u) & 31u);
  return {static_cast<int32_t>((bits >> 31) != 0u ? 0u - magnitude : magnitude)};
#endif
}

ETCH_INLINE I32 round_away_i32(F32 v) { return {rt::round_away(v.v)}; }
ETCH_INLINE I32 trunc_i32(F32 v) { return {static_cast<int32_t>(v.v)}; }

ETCH_INLINE I32 scale_round(I32 acc, F32 s) { return round_i32({static_cast<float>(acc.v) * s.v}); }

ETCH_INLINE I32 scale_clamp_round(I32 acc, F32 s, float lo, float hi) {
  return round_i32(clamp_f32({static_cast<float>(acc.v) * s.v}, lo, hi));
}

ETCH_INLINE void store_i32(int32_t* p, I32 v) { *p = v.v; }
ETCH_INLINE void store_f32(float* p, F32 v) { *p = v.v; }
ETCH_INLINE void store_f32_n(float* p, F32 v, int n) {
  if (n > 0) *p = v.v;
}
ETCH_INLINE void store_i32_n(int32_t* p, I32 v, int n) {
  if (n > 0) *p = v.v;
}

// ---- requantization without floats ----

ETCH_INLINE I32 multiply_high(I32 acc, const int32_t* p) {
  return {rt::multiply_high(acc.v, p[0], rt::joined(p[1], p[2]), p[3])};
}

ETCH_INLINE I32 multiply_shift(I32 acc, const int32_t* p) {
  return {rt::multiply_shift(acc.v, p[0], rt::joined(p[1], p[2]), p[3], p[4])};
}

ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) {
  return {rt::shift_to_even(acc.v, p[0], p[1])};
}

ETCH_INLINE I32 correct_where(I32 q, I32 acc, const int32_t* p) {
  return {wrapping_add(q.v, acc.v == p[0] ? p[1] : 0)};
}

ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  return p[0] == 0 ? q : I32{rt::float_product(acc.v, static_cast<uint32_t>(p[0]))};
}

}  // namespace scalar
}  // namespace etch
