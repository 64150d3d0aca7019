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

namespace etch {
namespace rt {

#if defined(__GNUC__) && defined(__AVX512F__)
constexpr int kFloatLanes = 16;
#elif defined(__GNUC__) && defined(__AVX__)
constexpr int kFloatLanes = 8;
#elif defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))
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

template <int lanes>
ETCH_INLINE Floats<lanes> load(const float* p) {
  Floats<lanes> out;
  ETCH_MEMCPY(&out, p, sizeof out);
  return out;
}

template <int lanes>
ETCH_INLINE void store(float* p, const Floats<lanes>& x) {
  ETCH_MEMCPY(p, &x, sizeof x);
}

// Every lane is `value`.
template <int lanes>
ETCH_INLINE Floats<lanes> all_lanes(float value) {
  if constexpr (lanes == 1) {
    return {value};
  } else {
    return {value - typename Floats<lanes>::Vector{}};  // -0 - 0 is -0
  }
}

template <int lanes>
ETCH_INLINE Floats<lanes> sum(const Floats<lanes>& a, const Floats<lanes>& b) {
  return {a.v + b.v};
}

// a * b, rounded, and of unknown origin to the compiler (see opaque()).
template <int lanes>
ETCH_INLINE Floats<lanes> product(const Floats<lanes>& a, const Floats<lanes>& b) {
  if constexpr (lanes == 1) {
    return {opaque(a.v * b.v)};
  } else {
    Floats<lanes> out{a.v * b.v};
#if defined(__SSE2__)
    __asm__("" : "+x"(out.v));
#elif defined(__aarch64__)
    __asm__("" : "+w"(out.v));
#endif
    return out;
  }
}

// x where x >= 0, else `otherwise`; NaN counts as below.
template <int lanes>
ETCH_INLINE Floats<lanes> where_not_negative(const Floats<lanes>& x,
                                             const Floats<lanes>& otherwise) {
  if constexpr (lanes == 1) {
    return {x.v >= 0.0f ? x.v : otherwise.v};
  } else {
#if defined(__GNUC__)
    typedef int32_t Mask __attribute__((vector_size(4 * lanes)));
    const Mask keep = x.v >= typename Floats<lanes>::Vector{};
    Mask yes, no;
    ETCH_MEMCPY(&yes, &x, sizeof yes);
    ETCH_MEMCPY(&no, &otherwise, sizeof no);
    const Mask bits = (yes & keep) | (no & ~keep);
    Floats<lanes> out;
    ETCH_MEMCPY(&out, &bits, sizeof out);
    return out;
#endif
  }
}

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

// sums[j] += x * w[j]
template <int lanes, int count>
ETCH_INLINE void add_scaled(Columns<lanes, count>& sums, float x, const float* w) {
  sums.first = sum(sums.first, product(all_lanes<lanes>(x), load<lanes>(w)));
  if constexpr (count > 1) add_scaled(sums.rest, x, w + lanes);
}

// sums[j] += x[j] * w[j]
template <int lanes, int count>
ETCH_INLINE void add_products(Columns<lanes, count>& sums, const float* x, const float* w) {
  sums.first = sum(sums.first, product(load<lanes>(x), load<lanes>(w)));
  if constexpr (count > 1) add_products(sums.rest, x + lanes, w + lanes);
}

}  // namespace rt
}  // namespace etch
