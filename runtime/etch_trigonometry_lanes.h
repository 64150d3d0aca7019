// The functions of etch_trigonometry.h as operators, and some of them for several floats at once:
// the same steps in doubles in the same order, so the same bits; both sides of each branch are
// computed and one is chosen. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_elementwise.h"
#include "etch_power_lanes.h"
#include "etch_trigonometry.h"

namespace etch {
namespace rt {

// What the operators of this file have in common.
struct Trigonometric {};

#if defined(ETCH_FOUR_FLOATS)

// ---- doubles ----

// All bits of a lane, or none.
template <int lanes>
struct DoubleLanes {
  typedef typename Doubles<lanes>::Vector Double;
  typedef decltype(Double{} < Double{}) Vector;
  Vector low, high;
};

template <int lanes>
ETCH_INLINE DoubleLanes<lanes> below(const Doubles<lanes>& a, const Doubles<lanes>& b) {
  return {a.low < b.low, a.high < b.high};
}

template <int lanes>
ETCH_INLINE Doubles<lanes> choose(const DoubleLanes<lanes>& where, const Doubles<lanes>& a,
                                  const Doubles<lanes>& b) {
  return {where.low ? a.low : b.low, where.high ? a.high : b.high};
}

template <int lanes>
ETCH_INLINE Doubles<lanes> negated(const Doubles<lanes>& x) {
  return {-x.low, -x.high};
}

// series(), its term k and those before
template <class Terms, int k, int lanes>
ETCH_INLINE Doubles<lanes> series_terms(const Doubles<lanes>& sum, const Doubles<lanes>& t) {
  const Doubles<lanes> next = plus(product(sum, times(t, Terms::of(k))), 1.0);
  if constexpr (k > 1) {
    return series_terms<Terms, k - 1>(next, t);
  } else {
    return next;
  }
}
template <class Terms, int terms, int lanes>
ETCH_INLINE Doubles<lanes> series_of(const Doubles<lanes>& t) {
  return series_terms<Terms, terms>(all_doubles<lanes>(1.0), t);
}

// ---- sine, cosine, tangent ----

// quadrant_of() of |x| < 2^25; n is not limited to 4.
template <int lanes>
struct Quadrants {
  Doubles<lanes> rest;
  Ints<lanes> n;
  DoubleLanes<lanes> is_odd;
};

template <int lanes>
ETCH_INLINE Quadrants<lanes> quadrants_of(const Floats<lanes>& x) {
  typedef int32_t Half __attribute__((vector_size(2 * lanes)));
  using Double = typename Doubles<lanes>::Vector;
  using Mask = typename DoubleLanes<lanes>::Vector;
  const Doubles<lanes> value = widened(x);
  const Doubles<lanes> turns = times(value, 0.63661977236758134);
  const Doubles<lanes> zero = all_doubles<lanes>(0.0);
  const Doubles<lanes> away = choose(below(turns, zero), plus(turns, -0.5), plus(turns, 0.5));
  const Half n[2] = {__builtin_convertvector(away.low, Half),
                     __builtin_convertvector(away.high, Half)};
  const Doubles<lanes> whole = {__builtin_convertvector(n[0], Double),
                                __builtin_convertvector(n[1], Double)};
  const Doubles<lanes> high = difference(value, times(whole, 0x1.921fb5p+0));
  Quadrants<lanes> out;
  out.rest = difference(high, times(whole, 0x1.110b4611a6263p-26));
  ETCH_MEMCPY(&out.n, n, sizeof n);
  out.is_odd = {__builtin_convertvector(-(n[0] & 1), Mask),
                __builtin_convertvector(-(n[1] & 1), Mask)};
  return out;
}

template <int lanes>
struct SineCosine {
  Doubles<lanes> sine, cosine;
};
template <int lanes>
ETCH_INLINE SineCosine<lanes> sine_and_cosine(const Doubles<lanes>& rest) {
  const Doubles<lanes> t = negated(product(rest, rest));
  return {product(rest, series_of<SineTerms, 7>(t)), series_of<CosineTerms, 8>(t)};
}

// The sign of x is changed where bit 1 of n is set.
template <int lanes>
ETCH_INLINE Floats<lanes> turned(const Floats<lanes>& x, const Ints<lanes>& n) {
  return from_bits(Ints<lanes>{bits_of(x).v ^ ((n.v & 2) << 30)});
}

// x where |x| < 2^-12, else y
template <int lanes>
ETCH_INLINE Floats<lanes> or_small(const Floats<lanes>& x, const Floats<lanes>& y) {
  return choose(below(magnitudes(x), all_lanes<lanes>(0x1p-12f)), x, y);
}

// sine_f32()
template <uint32_t ahead, int lanes>
ETCH_INLINE Floats<lanes> sines(const Floats<lanes>& x) {
  const Quadrants<lanes> q = quadrants_of(x);
  const SineCosine<lanes> of = sine_and_cosine(q.rest);
  if constexpr (ahead != 0u) {
    const Doubles<lanes> y = choose(q.is_odd, of.sine, of.cosine);
    return turned(rounded_to_floats(y), Ints<lanes>{q.n.v + 1});
  } else {
    const Doubles<lanes> y = choose(q.is_odd, of.cosine, of.sine);
    return or_small(x, turned(rounded_to_floats(y), q.n));
  }
}

// tan_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> tangents(const Floats<lanes>& x) {
  const Quadrants<lanes> q = quadrants_of(x);
  const SineCosine<lanes> of = sine_and_cosine(q.rest);
  const Doubles<lanes> y =
      quotient(choose(q.is_odd, of.cosine, of.sine), choose(q.is_odd, of.sine, of.cosine));
  return or_small(x, turned(rounded_to_floats(y), Ints<lanes>{q.n.v << 1}));
}

// Whether one of them is 2^25 or larger, infinite or NaN.
template <int lanes>
ETCH_INLINE bool has_large_angles(const Floats<lanes>& x) {
  const auto is_large = (bits_of(x).v & 0x7fffffff) >= 0x4c000000;
  int32_t any = 0;
  for (int i = 0; i < lanes; ++i) any |= is_large[i];
  return any != 0;
}

// ---- inverses ----

// atan_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> arc_tangents(const Floats<lanes>& x) {
  const Doubles<lanes> one = all_doubles<lanes>(1.0);
  const Doubles<lanes> size = widened(magnitudes(x));
  const DoubleLanes<lanes> is_large = below(one, size);
  const Doubles<lanes> t = choose(is_large, quotient(one, size), size);
  const DoubleLanes<lanes> is_shifted = below(all_doubles<lanes>(0.41421356), t);
  const Doubles<lanes> u = choose(is_shifted, quotient(plus(t, -1.0), plus(t, 1.0)), t);
  const Doubles<lanes> part = product(u, series_of<TangentTerms, 16>(negated(product(u, u))));
  const Doubles<lanes> arc = choose(is_shifted, plus(part, 0.5 * kHalfPi), part);
  const Doubles<lanes> rest = difference(all_doubles<lanes>(kHalfPi), arc);
  return or_small(x, signed_as(rounded_to_floats(choose(is_large, rest, arc)), x));
}

// arc_sine_of() of |x|: asin |x|, and pi / 2 - asin |x|.
template <int lanes>
struct Arcs {
  Doubles<lanes> arc, rest;
};
template <int lanes>
ETCH_INLINE Arcs<lanes> arcs_of(const Floats<lanes>& x) {
  const Doubles<lanes> size = widened(magnitudes(x)), zero = all_doubles<lanes>(0.0);
  const Doubles<lanes> half = times(difference(all_doubles<lanes>(1.0), size), 0.5);
  const Doubles<lanes> near = widened(roots(rounded_to_floats(half)));
  const Doubles<lanes> of_half = times(sum(near, quotient(half, near)), 0.5);
  const Doubles<lanes> root = choose(below(zero, half), of_half, zero);
  const DoubleLanes<lanes> is_high = below(all_doubles<lanes>(0.5), size);
  const Doubles<lanes> series = series_of<ArcTerms, 20>(choose(is_high, half, product(size, size)));
  const Doubles<lanes> part = product(choose(is_high, root, size), series);
  const Doubles<lanes> all = choose(is_high, times(part, 2.0), part);
  const Doubles<lanes> rest = difference(all_doubles<lanes>(kHalfPi), all);
  return {choose(is_high, rest, all), choose(is_high, all, rest)};
}

// y where |x| <= 1, else NaN
template <int lanes>
ETCH_INLINE Floats<lanes> of_arcs(const Floats<lanes>& x, const Floats<lanes>& y) {
  const Lanes<lanes> is_outside = below(all_lanes<lanes>(1.0f), magnitudes(x));
  const Floats<lanes> no_number = all_lanes<lanes>(no_number_f32());
  return choose(are_numbers(x), choose(is_outside, no_number, y), no_number);
}

// asin_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> arc_sines(const Floats<lanes>& x) {
  return of_arcs(x, or_small(x, signed_as(rounded_to_floats(arcs_of(x).arc), x)));
}

// acos_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> arc_cosines(const Floats<lanes>& x) {
  const Doubles<lanes> rest = arcs_of(x).rest;
  const Doubles<lanes> more = difference(all_doubles<lanes>(2.0 * kHalfPi), rest);
  const DoubleLanes<lanes> is_negative = below(widened(x), all_doubles<lanes>(0.0));
  return of_arcs(x, rounded_to_floats(choose(is_negative, more, rest)));
}

#endif

// ---- the operators ----

#define ETCH_ONE_FLOAT(Name, one)                               \
  struct Name : Trigonometric {                                 \
    ETCH_INLINE float of(float x, float, float) { return one; } \
  };

ETCH_ONE_FLOAT(Acosh, acosh_f32(x))
ETCH_ONE_FLOAT(Asinh, asinh_f32(x))
ETCH_ONE_FLOAT(Atanh, atanh_f32(x))
ETCH_ONE_FLOAT(Cosh, cosh_f32(x))
ETCH_ONE_FLOAT(Sinh, sinh_f32(x))

#if defined(ETCH_FOUR_FLOATS)
// The lanes one after the other where `one_by_one` says so.
#define ETCH_SOME_FLOATS(Name, one, some, one_by_one)                          \
  struct Name : Trigonometric {                                                \
    ETCH_INLINE float of(float x) { return one; }                              \
    ETCH_INLINE float of(float x, float, float) { return of(x); }              \
    template <int lanes>                                                       \
    ETCH_INLINE Floats<lanes> of(const Floats<lanes>& x, const Floats<lanes>&, \
                                 const Floats<lanes>&) {                       \
      if constexpr (lanes == 1) {                                              \
        return {of(x.v)};                                                      \
      } else {                                                                 \
        if (!(one_by_one)) return some;                                        \
        float each[static_cast<size_t>(lanes)];                                \
        store(each, x);                                                        \
        for (float& value : each) value = of(value);                           \
        return load<lanes>(each);                                              \
      }                                                                        \
    }                                                                          \
  };                                                                           \
  template <>                                                                  \
  struct HasVectors<Name> {                                                    \
    enum { value = 1 };                                                        \
  };
#else
#define ETCH_SOME_FLOATS(Name, one, some, one_by_one) ETCH_ONE_FLOAT(Name, one)
#endif

ETCH_SOME_FLOATS(Acos, acos_f32(x), arc_cosines(x), false)
ETCH_SOME_FLOATS(Asin, asin_f32(x), arc_sines(x), false)
ETCH_SOME_FLOATS(Atan, atan_f32(x), arc_tangents(x), false)
ETCH_SOME_FLOATS(Cos, sine_f32(x, 1u), sines<1>(x), has_large_angles(x))
ETCH_SOME_FLOATS(Sin, sine_f32(x, 0u), sines<0>(x), has_large_angles(x))
ETCH_SOME_FLOATS(Tan, tan_f32(x), tangents(x), has_large_angles(x))

#undef ETCH_SOME_FLOATS
#undef ETCH_ONE_FLOAT

}  // namespace rt
}  // namespace etch
