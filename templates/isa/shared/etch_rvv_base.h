// What the verbs for RISC-V with vectors are made of: vectors of the compiler, 16 int32 or four
// times 16 bytes, conversions between them, and parts of them, which go through memory by the
// intrinsics with vl = n. Included by riscv64_rvv/vocab.h alone, which says how vectors are used.
#pragma once

#include <riscv_vector.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_float.h"  // macros; also refuses -ffast-math

namespace etch {
namespace riscv64_rvv {

typedef uint8_t U8 __attribute__((vector_size(16)));
typedef int16_t S16 __attribute__((vector_size(32)));
typedef int16_t Pairs16 __attribute__((vector_size(64)));
typedef int32_t S32 __attribute__((vector_size(64)));
typedef uint32_t U32 __attribute__((vector_size(64)));
typedef float Float16 __attribute__((vector_size(64)));
typedef int64_t S64 __attribute__((vector_size(128)));

struct I32 {
  S32 v;
};
struct F32 {
  Float16 v;
};
struct X4 {
  S16 k0, k1, k2, k3;
};
struct W4 {
  S16 k0, k1, k2, k3;
};
struct Bytes {
  U8 q0, q1, q2, q3;
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
  __asm__ volatile("" : "+r"(p));
  return p;
}

// A product that no compiler fuses with a later addition. Compilers take no such vector in a
// register of an asm, but a fused step that adds -0 is the product.
#if defined(__clang__)
ETCH_INLINE Float16 product(Float16 a, Float16 b) {
  float nothing = -0.0f;
  __asm__("" : "+f"(nothing));
  return __builtin_elementwise_fma(a, b, nothing - Float16{});
}
#else
ETCH_INLINE Float16 product(Float16 a, Float16 b) {
  Float16 v = a * b;
  __asm__("" : "+m"(v));
  return v;
}
#endif

template <class V>
ETCH_INLINE V load_as(const void* p) {
  V v;
  ETCH_MEMCPY(&v, p, sizeof v);
  return v;
}

ETCH_INLINE S32 load_words(const void* p) { return load_as<S32>(__builtin_assume_aligned(p, 4)); }

template <class V>
ETCH_INLINE void store_as(void* p, const V& v) {
  ETCH_MEMCPY(p, &v, sizeof v);
}

// 16 bytes, and not a copy: of a load and its store clang would make a copy byte by byte.
typedef U8 BytesInMemory __attribute__((aligned(1), may_alias));
ETCH_INLINE U8 load_sixteen(const uint8_t* p) { return *reinterpret_cast<const BytesInMemory*>(p); }
ETCH_INLINE void store_sixteen(uint8_t* p, const U8& v) {
  *reinterpret_cast<BytesInMemory*>(p) = v;
}

template <class To, class From>
ETCH_INLINE To converted(const From& v) {
  return __builtin_convertvector(v, To);
}

ETCH_INLINE S16 splat16(int v) { return S16{} + static_cast<int16_t>(v); }
ETCH_INLINE S32 splat32(int v) { return S32{} + v; }
ETCH_INLINE Float16 splat_float(float v) {
  const uint32_t bits = rt::float_bits(v);
  return load_as<Float16>(&static_cast<const U32&>(U32{} + bits));
}
ETCH_INLINE S32 clamp(S32 v, int low, int high) {
  const S32 least = splat32(low), most = splat32(high);
  const S32 above = v < least ? least : v;
  return above > most ? most : above;
}

ETCH_INLINE S32 wrapping_add(S32 a, S32 b) {
  return reinterpret_cast<S32>(reinterpret_cast<U32>(a) + reinterpret_cast<U32>(b));
}
ETCH_INLINE S32 wrapping_sub(S32 a, S32 b) {
  return reinterpret_cast<S32>(reinterpret_cast<U32>(a) - reinterpret_cast<U32>(b));
}

// ---- parts of vectors ----

// n < 16 bytes, the rest 0.
ETCH_INLINE U8 load_part(const uint8_t* p, int n) {
  uint8_t all[16];
  const size_t count = static_cast<size_t>(n > 0 ? n : 0);
  const vuint8m1_t none = __riscv_vmv_v_x_u8m1(0, 16);
  __riscv_vse8_v_u8m1(all, __riscv_vle8_v_u8m1_tu(none, p, count), 16);
  return load_as<U8>(all);
}

// Bytes first .. first + n - 1, n <= 16.
ETCH_INLINE void store_part(uint8_t* p, U8 v, int first, int n) {
  if (n >= 16) return store_as(p, v);
  uint8_t all[16];
  store_as(all, v);
  const size_t count = static_cast<size_t>(n > 0 ? n : 0);
  __riscv_vse8_v_u8m1(p, __riscv_vle8_v_u8m1(all + first, count), count);
}

// v with its bytes first .. first + n - 1 from p.
ETCH_INLINE U8 insert_part(U8 v, const uint8_t* p, int first, int n) {
  if (n >= 16) return load_as<U8>(p);
  if (n <= 0) return v;
  uint8_t all[16];
  store_as(all, v);
  const size_t count = static_cast<size_t>(n);
  __riscv_vse8_v_u8m1(all + first, __riscv_vle8_v_u8m1(p, count), count);
  return load_as<U8>(all);
}

// n <= 16 words, the rest 0.
ETCH_INLINE S32 load_words_n(const int32_t* p, int n) {
  int32_t all[16];
  const size_t count = static_cast<size_t>(n > 0 ? n : 0);
  const vint32m4_t none = __riscv_vmv_v_x_i32m4(0, 16);
  __riscv_vse32_v_i32m4(all, __riscv_vle32_v_i32m4_tu(none, p, count), 16);
  return load_as<S32>(all);
}

ETCH_INLINE void store_words_n(int32_t* p, S32 v, int n) {
  if (n >= 16) return store_as(p, v);
  int32_t all[16];
  store_as(all, v);
  const size_t count = static_cast<size_t>(n > 0 ? n : 0);
  __riscv_vse32_v_i32m4(p, __riscv_vle32_v_i32m4(all, count), count);
}

ETCH_INLINE int at_most(int a, int b) { return a < b ? a : b; }

// Of the bytes first .. first + n - 1 those in quarter q: where they begin and how many.
ETCH_INLINE int part_begin(int q, int first) { return first > 16 * q ? first : 16 * q; }
ETCH_INLINE int part_size(int q, int first, int n) {
  return at_most(first + n, 16 * q + 16) - part_begin(q, first);
}

}  // namespace riscv64_rvv
}  // namespace etch
