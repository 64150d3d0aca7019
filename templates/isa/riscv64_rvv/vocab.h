// The verbs of generated code for RISC-V with vectors (RVV 1.0): one vector is 16 int32 or 64 bytes
// whatever VLEN is, so the same file runs on every CPU with at least 128 bits, with the same bytes.
// With 128 bits an int32 vector is a group of four registers; a compiler that is told of longer
// ones (-march=..._zvl256b) takes fewer. See docs/decisions/0021-rvv-by-vectors-of-one-length.md.
//
// Vectors are those of the compiler (vector_size) and not the types of riscv_vector.h, which cannot
// be members of a struct; each line is written so that compilers find the instruction meant. Bytes
// are four quarters of 16, so that all of a kernel runs with vl = 16. n, first, zp and stride are
// meant to be literals. Parts of vectors go through memory (etch_rvv_base.h).
#pragma once

// Parts of the extension (zve64d) have the same macro and shorter vectors, which hold too few
// lanes.
#if !defined(__riscv_vector) || !defined(__riscv_v_min_vlen) || __riscv_v_min_vlen < 128
#error "etch: compile this file with -march=rv64gcv"
#endif

#include <riscv_vector.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_by_lanes.h"
#include "etch_float.h"
#include "etch_integer.h"
#include "etch_rvv_base.h"

namespace etch {
namespace riscv64_rvv {

// ---- integers and products ----

ETCH_INLINE I32 zero_i32() { return {S32{}}; }
ETCH_INLINE I32 splat_i32(int v) { return {splat32(v)}; }
ETCH_INLINE I32 load_i32(const int32_t* p) { return {load_words(p)}; }
ETCH_INLINE I32 load_u8(const uint8_t* p) { return {converted<S32>(load_as<U8>(p))}; }
ETCH_INLINE I32 load_u8_n(const uint8_t* p, int n) { return {converted<S32>(load_part(p, n))}; }
ETCH_INLINE I32 load_i32_n(const int32_t* p, int n) {
  return {n >= 16 ? load_words(p) : load_words_n(p, n)};
}
ETCH_INLINE I32 repeat_u8(const uint8_t* p) { return {splat32(*p)}; }

// vwmacc takes a byte from a scalar register. Volatile, because where pixels share bytes clang
// shares their widened vectors too, and then multiplies 32 bits by 32.
ETCH_INLINE X4 broadcast4(const uint8_t* p) {
  const volatile uint8_t* const x = p;
  return {splat16(x[0]), splat16(x[1]), splat16(x[2]), splat16(x[3])};
}

ETCH_INLINE S16 two_alternating(int even, int odd) {
  const uint32_t pair = static_cast<uint32_t>(even) | static_cast<uint32_t>(odd) << 16;
  typedef uint32_t Pairs __attribute__((vector_size(32)));
  const Pairs pairs = Pairs{} + pair;
  return reinterpret_cast<S16>(pairs);
}

ETCH_INLINE X4 broadcast8(const uint8_t* x) {
  return {two_alternating(x[0], x[4]), two_alternating(x[1], x[5]), two_alternating(x[2], x[6]),
          two_alternating(x[3], x[7])};
}

// Of 16 pairs of int16 the first and the second ones: both by one vlseg2e16.
ETCH_INLINE S16 firsts(Pairs16 v) {
  return __builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
ETCH_INLINE S16 seconds(Pairs16 v) {
  return __builtin_shufflevector(v, v, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

ETCH_INLINE W4 load_w4(const uint8_t* w) {
  const Pairs16 even = load_as<Pairs16>(__builtin_assume_aligned(w, 4));
  const Pairs16 odd = load_as<Pairs16>(__builtin_assume_aligned(w + 64, 4));
  return {firsts(even), firsts(odd), seconds(even), seconds(odd)};
}
// No kernel asks for it here.
ETCH_INLINE W4 load_byte_w4(const uint8_t* w) {
  alignas(4) int16_t words[64];
  for (int i = 0; i < 64; ++i) words[i] = static_cast<int8_t>(w[i]);
  return load_w4(static_cast<const uint8_t*>(static_cast<const void*>(words)));
}

// vwmacc.
ETCH_INLINE S32 plus_product(S32 acc, S16 x, S16 w) {
  return wrapping_add(acc, converted<S32>(x) * converted<S32>(w));
}

ETCH_INLINE I32 dot4(I32 acc, X4 x, W4 w) {
  const S32 first = plus_product(plus_product(acc.v, x.k0, w.k0), x.k1, w.k1);
  return {plus_product(plus_product(first, x.k2, w.k2), x.k3, w.k3)};
}

ETCH_INLINE I32 add_i32(I32 acc, I32 v) { return {wrapping_add(acc.v, v.v)}; }
ETCH_INLINE I32 sub_i32(I32 a, I32 b) { return {wrapping_sub(a.v, b.v)}; }

ETCH_INLINE I32 add_pairs(I32 a, I32 b) {
  const S32 even =
      __builtin_shufflevector(a.v, b.v, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
  const S32 odd =
      __builtin_shufflevector(a.v, b.v, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
  return {wrapping_add(even, odd)};
}

// ---- bytes ----

ETCH_INLINE Bytes load_bytes(const uint8_t* p) {
  return {load_sixteen(p), load_sixteen(p + 16), load_sixteen(p + 32), load_sixteen(p + 48)};
}

ETCH_INLINE U8 quarter_n(const uint8_t* p, int q, int n) {
  if (n >= 16 * q + 16) return load_sixteen(p + 16 * q);
  return n <= 16 * q ? U8{} : load_part(p + 16 * q, n - 16 * q);
}
ETCH_INLINE Bytes load_bytes_n(const uint8_t* p, int n) {
  return {quarter_n(p, 0, n), quarter_n(p, 1, n), quarter_n(p, 2, n), quarter_n(p, 3, n)};
}

ETCH_INLINE U8 inserted(U8 v, const uint8_t* p, int q, int first, int n) {
  const int begin = part_begin(q, first);
  return part_size(q, first, n) <= 0
             ? v
             : insert_part(v, p + (begin - first), begin - 16 * q, part_size(q, first, n));
}
ETCH_INLINE Bytes insert_bytes(Bytes b, const uint8_t* p, int first, int n) {
  return {inserted(b.q0, p, 0, first, n), inserted(b.q1, p, 1, first, n),
          inserted(b.q2, p, 2, first, n), inserted(b.q3, p, 3, first, n)};
}

ETCH_INLINE Bytes splat_bytes(int v) {
  const U8 all = U8{} + static_cast<uint8_t>(v);
  return {all, all, all, all};
}
ETCH_INLINE Bytes broadcast_bytes(const uint8_t* x) { return splat_bytes(*x); }

ETCH_INLINE U8 larger(U8 a, U8 b) { return a > b ? a : b; }
ETCH_INLINE U8 smaller(U8 a, U8 b) { return a < b ? a : b; }
ETCH_INLINE Bytes max_bytes(Bytes a, Bytes b) {
  return {larger(a.q0, b.q0), larger(a.q1, b.q1), larger(a.q2, b.q2), larger(a.q3, b.q3)};
}
ETCH_INLINE Bytes max_into(Bytes acc, Bytes v) { return max_bytes(acc, v); }
ETCH_INLINE Bytes min_bytes(Bytes a, Bytes b) {
  return {smaller(a.q0, b.q0), smaller(a.q1, b.q1), smaller(a.q2, b.q2), smaller(a.q3, b.q3)};
}
ETCH_INLINE Bytes xor_bytes(Bytes a, Bytes b) {
  return {a.q0 ^ b.q0, a.q1 ^ b.q1, a.q2 ^ b.q2, a.q3 ^ b.q3};
}

ETCH_INLINE U8 low_eights(U8 a, U8 b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}
ETCH_INLINE Bytes every_second(Bytes a, Bytes b, int n) {
  if (n == 32) return {a.q0, a.q1, b.q0, b.q1};
  if (n == 16) return {a.q0, a.q2, b.q0, b.q2};
  return {low_eights(a.q0, a.q1), low_eights(a.q2, a.q3), low_eights(b.q0, b.q1),
          low_eights(b.q2, b.q3)};
}

ETCH_INLINE S16 widened(U8 b) { return converted<S16>(b); }
ETCH_INLINE QuadX interleave4(Bytes r0, Bytes r1, Bytes r2, Bytes r3) {
  return {{widened(r0.q0), widened(r1.q0), widened(r2.q0), widened(r3.q0)},
          {widened(r0.q1), widened(r1.q1), widened(r2.q1), widened(r3.q1)},
          {widened(r0.q2), widened(r1.q2), widened(r2.q2), widened(r3.q2)},
          {widened(r0.q3), widened(r1.q3), widened(r2.q3), widened(r3.q3)}};
}

ETCH_INLINE QuadI widen4(Bytes b) {
  return {{converted<S32>(b.q0)},
          {converted<S32>(b.q1)},
          {converted<S32>(b.q2)},
          {converted<S32>(b.q3)}};
}

// vnclip, vsadd, vmax, vnclipu.
ETCH_INLINE U8 narrowed(S32 v, int zp) {
  const S16 word = converted<S16>(clamp(v, -32768, 32767));
#if defined(__clang__)
  const S16 moved = __builtin_elementwise_add_sat(word, splat16(zp));
  const S16 zero = S16{}, most = splat16(255);
  const S16 above = moved < zero ? zero : moved;
  return converted<U8>(above > most ? most : above);
#else
  return converted<U8>(clamp(converted<S32>(word) + zp, 0, 255));
#endif
}
ETCH_INLINE Bytes narrow4(I32 v0, I32 v1, I32 v2, I32 v3, int zp) {
  return {narrowed(v0.v, zp), narrowed(v1.v, zp), narrowed(v2.v, zp), narrowed(v3.v, zp)};
}

// The in-lane order of this instruction set (IsaTraits::in_lane) is already each of these.
ETCH_INLINE Bytes arrange1(Bytes b) { return b; }
ETCH_INLINE Bytes arrange2(Bytes b) { return b; }
ETCH_INLINE Bytes arrange3(Bytes b) { return b; }
ETCH_INLINE QuadI natural4(I32 v0, I32 v1, I32 v2, I32 v3) { return {v0, v1, v2, v3}; }

ETCH_INLINE Bytes interleave(Bytes b, int n) {
  uint8_t from[64], to[64] = {};
  store_as(from, b);
  for (int lane = 0; lane < 16; ++lane) {
    for (int v = 0; v < n; ++v) to[lane * n + v] = from[16 * v + lane];
  }
  return load_bytes(to);
}

ETCH_INLINE U8 unzipped(U8 b) {
  return __builtin_shufflevector(b, b, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
}
ETCH_INLINE Bytes unzip(Bytes b) {
  return {unzipped(b.q0), unzipped(b.q1), unzipped(b.q2), unzipped(b.q3)};
}

ETCH_INLINE void store_bytes(uint8_t* p, Bytes b) {
  store_sixteen(p, b.q0);
  store_sixteen(p + 16, b.q1);
  store_sixteen(p + 32, b.q2);
  store_sixteen(p + 48, b.q3);
}

ETCH_INLINE void store_quarter(uint8_t* p, U8 v, int q, int first, int n) {
  const int begin = part_begin(q, first);
  if (part_size(q, first, n) > 0)
    store_part(p + (begin - first), v, begin - 16 * q, part_size(q, first, n));
}
ETCH_INLINE void store_slice(uint8_t* p, Bytes b, int first, int n) {
  store_quarter(p, b.q0, 0, first, n);
  store_quarter(p, b.q1, 1, first, n);
  store_quarter(p, b.q2, 2, first, n);
  store_quarter(p, b.q3, 3, first, n);
}

// By strides: vsse8.
ETCH_INLINE void store_spread(uint8_t* p, Bytes b, int stride, int n) {
  uint8_t all[64];
  store_bytes(all, b);
  for (int i = 0; i < n; i += 16) {
    const size_t count = static_cast<size_t>(at_most(n - i, 16));
    __riscv_vsse8_v_u8m1(p + static_cast<ptrdiff_t>(i) * stride, stride,
                         __riscv_vle8_v_u8m1(all + i, count), count);
  }
}

// ---- floats ----

ETCH_INLINE F32 splat_f32(float v) { return {splat_float(v)}; }
ETCH_INLINE F32 repeat_f32(const float* p) { return {splat_float(*p)}; }
ETCH_INLINE F32 load_f32(const float* p) {
  return {load_as<Float16>(__builtin_assume_aligned(p, 4))};
}
ETCH_INLINE F32 load_f32_n(const float* p, int n) {
  const void* const from = p;
  return {reinterpret_cast<Float16>(load_words_n(static_cast<const int32_t*>(from), n))};
}
ETCH_INLINE F32 to_f32(I32 v) { return {converted<Float16>(v.v)}; }
ETCH_INLINE F32 mul_f32(F32 a, F32 b) { return {product(a.v, b.v)}; }
ETCH_INLINE F32 add_f32(F32 a, F32 b) { return {a.v + b.v}; }
ETCH_INLINE F32 add_into(F32 acc, F32 v) { return add_f32(acc, v); }
ETCH_INLINE F32 sub_f32(F32 a, F32 b) { return {a.v - b.v}; }
ETCH_INLINE F32 div_f32(F32 a, F32 b) { return {a.v / b.v}; }
ETCH_INLINE F32 abs_f32(F32 v) {
  return {reinterpret_cast<Float16>(reinterpret_cast<S32>(v.v) & 0x7fffffff)};
}
ETCH_INLINE F32 neg_f32(F32 v) {
  return {reinterpret_cast<Float16>(reinterpret_cast<U32>(v.v) ^ 0x80000000u)};
}

// Comparisons and not vfmin and vfmax, which treat NaN and zeros of two signs otherwise.
ETCH_INLINE F32 at_least_f32(F32 v, F32 low) { return {v.v < low.v ? low.v : v.v}; }
ETCH_INLINE F32 at_most_f32(F32 v, F32 high) { return {high.v < v.v ? high.v : v.v}; }
ETCH_INLINE F32 max_f32(F32 a, F32 b) {
  const Float16 more = a.v > b.v ? a.v : b.v;
  return {a.v != a.v ? a.v : more};
}
ETCH_INLINE F32 min_f32(F32 a, F32 b) {
  const Float16 less = a.v < b.v ? a.v : b.v;
  return {a.v != a.v ? a.v : less};
}
ETCH_INLINE F32 unless_negative(F32 v, F32 other) { return {v.v >= Float16{} ? v.v : other.v}; }
ETCH_INLINE F32 fall_to(F32 acc, F32 v) { return at_most_f32(acc, v); }
ETCH_INLINE F32 rise_to(F32 acc, F32 v) { return at_least_f32(acc, v); }
ETCH_INLINE F32 clamp_f32(F32 v, float lo, float hi) {
  const Float16 least = splat_float(lo), most = splat_float(hi);
  const Float16 above = v.v > least ? v.v : least;
  return {above < most ? above : most};
}

// vfcvt with its own rounding mode, by way of memory.
template <unsigned mode>
ETCH_INLINE I32 rounded(F32 v) {
  float from[16];
  int32_t to[16];
  store_as(from, v.v);
  const vfloat32m4_t all = __riscv_vle32_v_f32m4(from, 16);
  __riscv_vse32_v_i32m4(to, __riscv_vfcvt_x_f_v_i32m4_rm(all, mode, 16), 16);
  return {load_as<S32>(to)};
}

#if defined(__clang__)
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) { return {__builtin_elementwise_fma(a.v, b.v, c.v)}; }
#else
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) {
  for (int i = 0; i < 16; ++i) c.v[i] = rt::fma_exact(a.v[i], b.v[i], c.v[i]);
  return c;
}
#endif

#if defined(__clang__) && defined(__OPTIMIZE__)
ETCH_INLINE I32 round_i32(F32 v) { return {converted<S32>(__builtin_elementwise_roundeven(v.v))}; }
#else
ETCH_INLINE I32 round_i32(F32 v) { return rounded<__RISCV_FRM_RNE>(v); }
#endif
ETCH_INLINE I32 round_away_i32(F32 v) { return rounded<__RISCV_FRM_RMM>(v); }

// From the nearest integer back where that is beyond v. Not by vfcvt.rtz: at some, QEMU 7.2 aborts.
ETCH_INLINE I32 trunc_i32(F32 v) {
  const S32 nearest = round_i32(v).v;
  const Float16 back = converted<Float16>(nearest), zero = {};
  const S32 above = (back > v.v) & (v.v > zero), below = (back < v.v) & (v.v < zero);  // -1: yes
  return {nearest + above - below};
}

// No sum follows these products.
ETCH_INLINE I32 scale_round(I32 acc, F32 s) { return round_i32({converted<Float16>(acc.v) * s.v}); }
ETCH_INLINE I32 scale_clamp_round(I32 acc, F32 s, float lo, float hi) {
  return round_i32(clamp_f32({converted<Float16>(acc.v) * s.v}, lo, hi));
}

ETCH_INLINE void store_i32(int32_t* p, I32 v) { store_as(__builtin_assume_aligned(p, 4), v.v); }
ETCH_INLINE void store_f32(float* p, F32 v) { store_as(__builtin_assume_aligned(p, 4), v.v); }
ETCH_INLINE void store_f32_n(float* p, F32 v, int n) {
  void* const to = p;
  store_words_n(static_cast<int32_t*>(to), reinterpret_cast<S32>(v.v), n);
}
ETCH_INLINE void store_i32_n(int32_t* p, I32 v, int n) { store_words_n(p, v.v, n); }

// ---- requantization without floats ----

// Parameter `kind` of all lanes.
ETCH_INLINE S32 parameter(const int32_t* p, int kind) { return load_words(p + 16 * kind); }
ETCH_INLINE S64 offset_of(const int32_t* p) {
  const U32 low = reinterpret_cast<U32>(parameter(p, 1));
  return converted<S64>(parameter(p, 2)) << 32 | converted<S64>(low);
}

ETCH_INLINE I32 multiply_high(I32 acc, const int32_t* p) {
  const S64 sum = converted<S64>(acc.v) * converted<S64>(parameter(p, 0)) + offset_of(p);
  return {converted<S32>(sum >> 32) >> parameter(p, 3)};
}

ETCH_INLINE I32 multiply_shift(I32 acc, const int32_t* p) {
  const S64 product = converted<S64>(acc.v) * converted<S64>(parameter(p, 0));
  const S64 shift = converted<S64>(parameter(p, 3));
  const S64 is_odd = -(product >> shift & 1);
  const S64 odd = is_odd & converted<S64>(parameter(p, 4));
  return {converted<S32>((product + offset_of(p) + odd) >> shift)};
}

ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) {
  const S32 shift = parameter(p, 1);
  const S32 more = wrapping_add(parameter(p, 0), acc.v >> shift & 1);
  return {wrapping_add(acc.v, more) >> shift};
}

ETCH_INLINE I32 correct_where(I32 q, I32 acc, const int32_t* p) {
  const S32 here = acc.v == parameter(p, 0);
  return {wrapping_add(q.v, here & parameter(p, 1))};
}

// A rare form, lane by lane.
ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  return by_lanes::float_product(q, acc, p);
}

// Kernels use these where a target asks for them.
ETCH_INLINE W4 load_moved_w4(const uint8_t* w) { return load_w4(w); }
template <class X>
ETCH_INLINE I32 dot4_moved(I32 acc, X x, W4 w) {
  return dot4(acc, x, w);
}
ETCH_INLINE I32 dot4_lane(I32 acc, Bytes x, int group, W4 w) {
  return dot4(acc, broadcast4(by_lanes::stored(x).at + 4 * group), w);
}
ETCH_INLINE I32 dot_squares(I32 acc, Bytes x, Bytes w) { return by_lanes::dot_squares(acc, x, w); }
ETCH_INLINE Bytes repeat4(const uint8_t* x) { return by_lanes::repeat4<Bytes>(x); }
ETCH_INLINE Bytes repeat4_at(const uint8_t* x, const uint8_t* at, int) {
  return repeat4(x + by_lanes::place_at(at));
}
ETCH_INLINE I32 dot_sums16(I32 acc, Bytes x, Bytes w) { return by_lanes::dot_sums16(acc, x, w); }
ETCH_INLINE I32 low_halves(I32 a, I32 b) {
  return {
      __builtin_shufflevector(a.v, b.v, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)};
}
ETCH_INLINE I32 high_halves(I32 a, I32 b) {
  return {__builtin_shufflevector(a.v, b.v, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30,
                                  31)};
}

}  // namespace riscv64_rvv
}  // namespace etch
