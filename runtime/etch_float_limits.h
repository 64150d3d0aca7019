// The larger and the smaller one of two floats, lane by lane, with the same meaning for every
// number of lanes: etch_float_lanes.h. C++17, freestanding, no heap, no state.
#pragma once

#include "etch_intrinsics.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// Forms with a mask, because gcc 12 warns of what the others leave undefined.
#if defined(__GNUC__) && defined(__AVX512F__)
static constexpr __mmask16 kAllLanes = 0xffff;
#endif

// a > b ? a : b; b where one is NaN.
template <int lanes>
ETCH_INLINE Floats<lanes> larger(const Floats<lanes>& a, const Floats<lanes>& b) {
  if constexpr (lanes == 1) {
    return {a.v > b.v ? a.v : b.v};
  } else {
#if defined(__SSE2__) && defined(__GNUC__)
    if constexpr (lanes == 4) return {_mm_max_ps(a.v, b.v)};
#endif
#if defined(__AVX__) && defined(__GNUC__)
    if constexpr (lanes == 8) return {_mm256_max_ps(a.v, b.v)};
#endif
#if defined(__AVX512F__) && defined(__GNUC__)
    if constexpr (lanes == 16) return {_mm512_mask_max_ps(a.v, kAllLanes, a.v, b.v)};
#endif
    return choose(below(b, a), a, b);
  }
}

// a < b ? a : b; b where one is NaN.
template <int lanes>
ETCH_INLINE Floats<lanes> smaller(const Floats<lanes>& a, const Floats<lanes>& b) {
  if constexpr (lanes == 1) {
    return {a.v < b.v ? a.v : b.v};
  } else {
#if defined(__SSE2__) && defined(__GNUC__)
    if constexpr (lanes == 4) return {_mm_min_ps(a.v, b.v)};
#endif
#if defined(__AVX__) && defined(__GNUC__)
    if constexpr (lanes == 8) return {_mm256_min_ps(a.v, b.v)};
#endif
#if defined(__AVX512F__) && defined(__GNUC__)
    if constexpr (lanes == 16) return {_mm512_mask_min_ps(a.v, kAllLanes, a.v, b.v)};
#endif
    return choose(below(a, b), a, b);
  }
}

// ---- by instructions that keep NaN ----

#if defined(__GNUC__) && defined(__aarch64__)
#define ETCH_LIMITS_KEEP_NAN 1
#endif

// The larger or the smaller one; NaN if b is, or either by such instructions; of two zeros any.
template <bool most, int lanes>
ETCH_INLINE Floats<lanes> limit_or_nan(const Floats<lanes>& a, const Floats<lanes>& b) {
#if defined(ETCH_LIMITS_KEEP_NAN)
  if constexpr (lanes == 4) {
    Floats<4> out;
    if constexpr (most) {
      __asm__("fmax %0.4s, %1.4s, %2.4s" : "=w"(out.v) : "w"(a.v), "w"(b.v));
    } else {
      __asm__("fmin %0.4s, %1.4s, %2.4s" : "=w"(out.v) : "w"(a.v), "w"(b.v));
    }
    return out;
  }
#endif
  return most ? larger(a, b) : smaller(a, b);
}

#if defined(ETCH_LIMITS_KEEP_NAN)
// The limits of four vectors of results and the 16 elements from x on. One statement, because
// compilers do not load four registers at once.
#define ETCH_LIMIT_FOUR(fmax)                                                               \
  __asm__("ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%[x]], #64\n\t" fmax                      \
          " %0.4s, %0.4s, v16.4s\n\t" fmax " %1.4s, %1.4s, v17.4s\n\t" fmax                 \
          " %2.4s, %2.4s, v18.4s\n\t" fmax " %3.4s, %3.4s, v19.4s"                          \
          : "+w"(part[0].v), "+w"(part[1].v), "+w"(part[2].v), "+w"(part[3].v), [x] "+r"(x) \
          : "m"(*reinterpret_cast<const float(*)[16]>(x))                                   \
          : "v16", "v17", "v18", "v19")
template <bool most>
ETCH_INLINE void limit_four(Floats<4> (&part)[4], const float*& x) {
  if constexpr (most) {
    ETCH_LIMIT_FOUR("fmax");
  } else {
    ETCH_LIMIT_FOUR("fmin");
  }
}
#undef ETCH_LIMIT_FOUR

// The limit of `first` and n >= 16 floats, NaN if one of them is. Four results, so that none waits
// for the one before.
template <bool most>
static inline float limit_of_row(const float* x, int32_t n, float first) {
  Floats<4> part[4] = {all_lanes<4>(first), all_lanes<4>(first), all_lanes<4>(first),
                       all_lanes<4>(first)};
  const float* const end = x + n;
  for (const float* const last = x + n / 16 * 16; x != last;) limit_four<most>(part, x);
  if (x != end) limit_four<most>(part, x = end - 16);  // some again
  const Floats<4> all = limit_or_nan<most>(limit_or_nan<most>(part[0], part[1]),
                                           limit_or_nan<most>(part[2], part[3]));
  float out;
  if constexpr (most) {
    __asm__("fmaxv %s0, %1.4s" : "=w"(out) : "w"(all.v));
  } else {
    __asm__("fminv %s0, %1.4s" : "=w"(out) : "w"(all.v));
  }
  return out;
}
#endif

}  // namespace rt
}  // namespace etch
