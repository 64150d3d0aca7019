// Several floats at once: loads, stores, sums, and products that no compiler may fuse with a later
// sum.
//
// A lane's result never depends on how many lanes there are, so every target computes the same
// bits: one product, one rounding, one sum, one rounding. kFloatLanes is what fits one register of
// the target that this is compiled for; where compilers have no vectors it is 1. C++17,
// freestanding; functions are static and types without member functions, so that files compiled
// for different instruction sets can be linked together.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_soft_float.h"

namespace etch {
namespace rt {

// RISC-V with vectors, whose registers hold four floats or more, by compilers that have a builtin
// for fused steps of several lanes.
#if defined(__clang__) && defined(__riscv_v) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ETCH_RISCV_LANES 1
#endif

// Four floats are a register. WebAssembly's relaxed instructions could fuse steps, and nothing in
// vectors keeps compilers from using them.
#if defined(__GNUC__) &&                                                       \
    (defined(__SSE2__) || defined(__aarch64__) || defined(ETCH_RISCV_LANES) || \
     (defined(__wasm_simd128__) && !defined(__wasm_relaxed_simd__)))
#define ETCH_FOUR_FLOATS 1
#endif

// Intrinsics of 64-bit Arm, in whose big-endian order lanes are counted from the other side.
#if defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define ETCH_ARM_LANES 1
#endif

// NEON of 32-bit Arm, whose vectors are checked: etch_checked_floats.h.
#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#define ETCH_NEON_FLOATS 1
#endif

#if defined(__GNUC__) && defined(__AVX512F__)
constexpr int kFloatLanes = 16;
#elif defined(__GNUC__) && defined(__AVX__)
constexpr int kFloatLanes = 8;
#elif defined(ETCH_RISCV_LANES)
constexpr int kFloatLanes = 8;
#elif defined(ETCH_FOUR_FLOATS)
constexpr int kFloatLanes = 4;
#else
constexpr int kFloatLanes = 1;
#endif

// The next narrower kind of vector: 16, 8, 4, 1.
static constexpr int narrower(int lanes) { return lanes > 4 ? lanes / 2 : 1; }

// `lanes` neighbouring floats.
#if defined(__GNUC__)
template <int lanes>
struct Floats {
  typedef float Vector __attribute__((vector_size(4 * lanes)));
  Vector v;
};
template <>
struct Floats<1> {
  float v;
};
#else
template <int lanes>
struct Floats;
template <>
struct Floats<1> {
  float v;
};
#endif

#if defined(__GNUC__) && (defined(__ARM_FEATURE_MVE) || defined(ETCH_NEON_FLOATS))
#define ETCH_FLOATS_IN_MEMORY 1
// Helium loads words, where a copy would load bytes; NEON a vector, where it would load words.
template <int lanes>
struct FloatsInMemory {
  typedef float Vector __attribute__((vector_size(4 * lanes), aligned(4), may_alias));
};
#endif

template <int lanes>
ETCH_INLINE Floats<lanes> load(const float* p) {
  if constexpr (lanes == 1) {
    return {*p};  // copies go through the registers of integers, or byte by byte
  } else {
#if defined(ETCH_FLOATS_IN_MEMORY)
    return {*reinterpret_cast<const typename FloatsInMemory<lanes>::Vector*>(p)};
#else
    Floats<lanes> out;
    ETCH_MEMCPY(&out, p, sizeof out);
    return out;
#endif
  }
}

template <int lanes>
ETCH_INLINE void store(float* p, const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    *p = x.v;
  } else {
#if defined(ETCH_FLOATS_IN_MEMORY)
    *reinterpret_cast<typename FloatsInMemory<lanes>::Vector*>(p) = x.v;
#else
    ETCH_MEMCPY(p, &x, sizeof x);
#endif
  }
}

// Every lane is `value`.
template <int lanes>
ETCH_INLINE Floats<lanes> all_lanes(float value) {
  if constexpr (lanes == 1) {
    return {value};
  } else {
#if defined(ETCH_NEON_FLOATS)
    if constexpr (lanes == 4) {
      const typename Floats<lanes>::Vector out = {value, value, value, value};
      return {out};
    }
#endif
    return {value - typename Floats<lanes>::Vector{}};  // -0 - 0 is -0
  }
}

// As many lanes as `like` has.
template <int lanes>
ETCH_INLINE Floats<lanes> same_lanes(const Floats<lanes>&, float value) {
  return all_lanes<lanes>(value);
}

template <int lanes>
ETCH_INLINE Floats<lanes> sum(const Floats<lanes>& a, const Floats<lanes>& b) {
#if defined(ETCH_SOFT_FLOAT)
  return {soft_sum(a.v, b.v)};
#else
  return {a.v + b.v};
#endif
}

#if defined(__GNUC__)
// a * b of vectors of floats or doubles, rounded, and of unknown origin to the compiler (see
// opaque()). No asm of RISC-V takes such a vector, but a fused step that adds -0 is the product,
// and is not fused again.
template <class Vector>
ETCH_INLINE Vector product_vector(const Vector& a, const Vector& b) {
#if defined(ETCH_RISCV_LANES)
  auto nothing = a[0];
  nothing = -0.0f;
  __asm__("" : "+f"(nothing));
  return __builtin_elementwise_fma(a, b, nothing - Vector{});
#else
  Vector out = a * b;
#if defined(__AVX512F__)
  __asm__("" : "+v"(out));  // any of 32 registers
#elif defined(__SSE2__)
  __asm__("" : "+x"(out));
#elif defined(__aarch64__) || defined(__ARM_FEATURE_MVE)
  __asm__("" : "+w"(out));
#endif
  return out;
#endif
}
#endif

template <int lanes>
ETCH_INLINE Floats<lanes> product(const Floats<lanes>& a, const Floats<lanes>& b) {
  if constexpr (lanes == 1) {
#if defined(ETCH_SOFT_FLOAT)
    return {soft_product(a.v, b.v)};
#else
    return {opaque(a.v * b.v)};
#endif
  } else {
#if defined(__GNUC__)
    return {product_vector(a.v, b.v)};
#else
    return {a.v * b.v};
#endif
  }
}

// *x in all lanes, times w: product(). With AVX-512 and Helium the multiplication itself repeats x;
// an instruction for that alone would take turns with multiplications and sums on some CPUs.
template <int lanes>
ETCH_INLINE Floats<lanes> product_of_one(const float* x, const Floats<lanes>& w) {
#if defined(__GNUC__) && defined(__AVX512F__)
  if constexpr (lanes == 16) {
    Floats<16> out;
    __asm__("vmulps {%2%{1to16%}, %1, %0|%0, %1, %2%{1to16%}}" : "=v"(out.v) : "v"(w.v), "m"(*x));
    return out;
  }
#elif defined(__GNUC__) && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0
  if constexpr (lanes == 4) {
    Floats<4> out;
    __asm__("vmul.f32 %q0, %q1, %2" : "=w"(out.v) : "w"(w.v), "r"(*x));
    return out;
  }
#endif
  return product(all_lanes<lanes>(*x), w);
}

template <int lanes>
ETCH_INLINE Floats<lanes> difference(const Floats<lanes>& a, const Floats<lanes>& b) {
  return {a.v - b.v};
}

template <int lanes>
ETCH_INLINE Floats<lanes> quotient(const Floats<lanes>& a, const Floats<lanes>& b) {
  return {a.v / b.v};
}

// Lanes that are all ones or all zeros: what a comparison gives.
#if defined(__GNUC__)
template <int lanes>
struct Lanes {
  typedef int32_t Mask __attribute__((vector_size(4 * lanes)));
  Mask v;
};
template <>
struct Lanes<1> {
  bool v;
};
#else
template <int lanes>
struct Lanes {
  bool v;
};
#endif

// a < b; false where one is NaN.
template <int lanes>
ETCH_INLINE Lanes<lanes> below(const Floats<lanes>& a, const Floats<lanes>& b) {
  return {a.v < b.v};
}

template <int lanes>
ETCH_INLINE Lanes<lanes> not_below(const Floats<lanes>& a, const Floats<lanes>& b) {
  return {a.v >= b.v};
}

template <int lanes>
ETCH_INLINE Floats<lanes> choose(const Lanes<lanes>& where, const Floats<lanes>& yes,
                                 const Floats<lanes>& no) {
  if constexpr (lanes == 1) {
    return where.v ? yes : no;
  } else {
#if defined(__GNUC__)
    return {where.v ? yes.v : no.v};
#endif
  }
}

// x where x >= 0, else `otherwise`; NaN counts as below.
template <int lanes>
ETCH_INLINE Floats<lanes> where_not_negative(const Floats<lanes>& x,
                                             const Floats<lanes>& otherwise) {
  return choose(not_below(x, all_lanes<lanes>(0.0f)), x, otherwise);
}

// The elements from p on, or with a step of 0 always the first.
template <int lanes>
ETCH_INLINE Floats<lanes> load_or_repeat(const float* p, ptrdiff_t step) {
  return step == 0 ? all_lanes<lanes>(*p) : load<lanes>(p);
}

template <int lanes>
struct Width {
  static constexpr int value = lanes;
};

// Calls chunk(i, Width<L>{}) for elements [i, i + L) of [first, n) with vectors of `lanes` and then
// of narrower ones as they fit; returns the first element that is left.
template <int lanes, class Chunk>
ETCH_INLINE ptrdiff_t for_vectors(ptrdiff_t first, ptrdiff_t n, Chunk chunk) {
  if constexpr (lanes > 1) {
    const ptrdiff_t end = n - (n - first) % lanes;
    for (ptrdiff_t i = first; i < end; i += lanes) chunk(i, Width<lanes>{});
    return for_vectors<narrower(lanes)>(end, n, chunk);
  } else {
    return first;
  }
}

ETCH_INLINE bool is_dense(ptrdiff_t step) { return step == 0 || step == 1; }

// `count` neighbouring vectors. Nested rather than an array, so that each stays in a register.
template <int lanes, int count>
struct Columns {
  Floats<lanes> first;
  Columns<lanes, count - 1> rest;
};
template <int lanes>
struct Columns<lanes, 1> {
  Floats<lanes> first;
};

template <int lanes, int count>
ETCH_INLINE void clear(Columns<lanes, count>& x) {
  x.first = all_lanes<lanes>(0.0f);
  if constexpr (count > 1) clear(x.rest);
}

}  // namespace rt
}  // namespace etch
