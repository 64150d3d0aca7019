// The functions of etch_trigonometry.h as operators, and all for several floats at once: the same
// steps in doubles in the same order, so the same bits; both sides of each branch are computed and
// one is chosen. Inverses of sine, cosine and tangent, which are written once for any number of
// lanes, are in floats. C++17, freestanding, no heap, no state.
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
ETCH_INLINE DoubleLanes<lanes> not_below(const Doubles<lanes>& a, const Doubles<lanes>& b) {
  return {a.low >= b.low, a.high >= b.high};
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
template <size_t k, int lanes, size_t count>
ETCH_INLINE Doubles<lanes> series_terms(const double (&terms)[count], const Doubles<lanes>& above,
                                        const Doubles<lanes>& t) {
  const Doubles<lanes> next = plus(product(above, t), terms[k]);
  if constexpr (k > 0) {
    return series_terms<k - 1>(terms, next, t);
  } else {
    return next;
  }
}
template <int lanes, size_t count>
ETCH_INLINE Doubles<lanes> series_of(const double (&terms)[count], const Doubles<lanes>& t) {
  return series_terms<count - 2>(terms, all_doubles<lanes>(terms[count - 1]), t);
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
  const Half n[2] = {toward_zero<Half>(away.low), toward_zero<Half>(away.high)};
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
  return {product(rest, series_of(kSeries.sine, t)), series_of(kSeries.cosine, t)};
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

// ---- parts of the others ----

// root_of(), and 0 of 0; any value of what is beyond floats
template <int lanes>
ETCH_INLINE Doubles<lanes> roots_of(const Doubles<lanes>& x) {
  const Doubles<lanes> near = widened(roots(rounded_to_floats(x))), zero = all_doubles<lanes>(0.0);
  const Doubles<lanes> root = times(sum(near, quotient(x, near)), 0.5);
  return choose(below(zero, x), root, zero);
}

// log_of()
template <int lanes>
ETCH_INLINE Doubles<lanes> logarithms_of(const Doubles<lanes>& x) {
  return times(logarithms_to_two(x), 0.69314718055994531);
}

// power_of_e() of 0 <= x <= 100
template <int lanes>
ETCH_INLINE Doubles<lanes> powers_of_e(const Doubles<lanes>& x) {
  typedef int32_t Half __attribute__((vector_size(2 * lanes)));
  using Double = typename Doubles<lanes>::Vector;
  using Bits = typename DoubleBits<lanes>::Vector;
  const Doubles<lanes> twos = plus(times(x, 1.4426950408889634), 0.5);
  const Half power[2] = {toward_zero<Half>(twos.low), toward_zero<Half>(twos.high)};
  const Doubles<lanes> whole = {__builtin_convertvector(power[0], Double),
                                __builtin_convertvector(power[1], Double)};
  const Doubles<lanes> high = difference(x, times(whole, 0x1.62e42feep-1));
  const Doubles<lanes> rest = difference(high, times(whole, 0x1.a39ef35793c76p-33));
  const DoubleBits<lanes> scale = {__builtin_convertvector(power[0] + 1023, Bits) << 52,
                                   __builtin_convertvector(power[1] + 1023, Bits) << 52};
  return product(series_of(kSeries.power, rest), from_bits(scale));
}

// y where x is a number, else one form of NaN
template <int lanes>
ETCH_INLINE Floats<lanes> of_numbers(const Floats<lanes>& x, const Floats<lanes>& y) {
  return choose(are_numbers(x), y, all_lanes<lanes>(no_number_f32()));
}

// ---- hyperbolic functions ----

// sinh_f32(): from 100 on, where it is infinite as a float, as of 100
template <int lanes>
ETCH_INLINE Floats<lanes> hyperbolic_sines(const Floats<lanes>& x) {
  const Floats<lanes> size = smaller(magnitudes(x), all_lanes<lanes>(100.0f));
  const Doubles<lanes> v = widened(size), one = all_doubles<lanes>(1.0);
  const Doubles<lanes> small = product(v, series_of(kSeries.hyperbolic_sine, product(v, v)));
  const Doubles<lanes> e = powers_of_e(v);
  const Doubles<lanes> large = times(difference(e, quotient(one, e)), 0.5);
  const Floats<lanes> y = rounded_to_floats(choose(below(v, one), small, large));
  return of_numbers(x, or_small(x, signed_as(y, x)));
}

// cosh_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> hyperbolic_cosines(const Floats<lanes>& x) {
  const Floats<lanes> size = smaller(magnitudes(x), all_lanes<lanes>(100.0f));
  const Doubles<lanes> e = powers_of_e(widened(size));
  const Doubles<lanes> y = times(sum(e, quotient(all_doubles<lanes>(1.0), e)), 0.5);
  return of_numbers(x, rounded_to_floats(y));
}

// asinh_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> area_sines(const Floats<lanes>& x) {
  const Doubles<lanes> v = widened(magnitudes(x)), square = product(v, v);
  const Doubles<lanes> small = product(v, series_of(kSeries.area_sine, negated(square)));
  const Doubles<lanes> sum_of_both = sum(v, roots_of(plus(square, 1.0)));
  const DoubleLanes<lanes> is_large = not_below(v, all_doubles<lanes>(0x1p20));
  const Doubles<lanes> log = logarithms_of(choose(is_large, times(v, 2.0), sum_of_both));
  const Doubles<lanes> y = choose(below(v, all_doubles<lanes>(0.5)), small, log);
  const Floats<lanes> near = or_small(x, signed_as(rounded_to_floats(y), x));
  const Lanes<lanes> is_finite = below(magnitudes(x), all_lanes<lanes>(bits_float(0x7f800000u)));
  return of_numbers(x, choose(is_finite, near, x));
}

// acosh_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> area_cosines(const Floats<lanes>& x) {
  const Doubles<lanes> v = widened(x);
  const Doubles<lanes> root = roots_of(product(plus(v, -1.0), plus(v, 1.0)));
  const DoubleLanes<lanes> is_large = not_below(v, all_doubles<lanes>(0x1p20));
  const Doubles<lanes> log = logarithms_of(choose(is_large, times(v, 2.0), sum(v, root)));
  const Floats<lanes> one = all_lanes<lanes>(1.0f);
  const Lanes<lanes> is_finite = below(x, all_lanes<lanes>(bits_float(0x7f800000u)));
  const Floats<lanes> y = choose(is_finite, rounded_to_floats(log), x);
  return choose(not_below(x, one), y, all_lanes<lanes>(no_number_f32()));
}

// atanh_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> area_tangents(const Floats<lanes>& x) {
  const Floats<lanes> size = magnitudes(x), one = all_lanes<lanes>(1.0f);
  const Doubles<lanes> v = widened(size), ones = all_doubles<lanes>(1.0);
  const Doubles<lanes> small = product(v, series_of(kSeries.area_tangent, product(v, v)));
  const Doubles<lanes> share = quotient(sum(ones, v), difference(ones, v));
  const Doubles<lanes> large = times(logarithms_of(share), 0.5);
  const Doubles<lanes> y = choose(below(v, all_doubles<lanes>(0.25)), small, large);
  const Floats<lanes> infinity = all_lanes<lanes>(bits_float(0x7f800000u));
  const Floats<lanes> near = choose(below(size, one), rounded_to_floats(y), infinity);
  return of_numbers(x, choose(below(one, size), all_lanes<lanes>(no_number_f32()),
                              or_small(x, signed_as(near, x))));
}

#endif

// ---- inverses, in floats ----

// In this order: asin x = x + x P(x^2) x^2 up to 1/2, and atan x the same up to 1.
struct ArcSeries {
  float sine[5] = {0x1.5555c8p-3f, 0x1.3301e4p-4f, 0x1.747e4cp-5f, 0x1.8c2834p-6f, 0x1.596d2ep-5f};
  float tangent[9] = {-0x1.55553ep-2f, 0x1.9991fcp-3f,  -0x1.2421b4p-3f,
                      0x1.c099fep-4f,  -0x1.583490p-4f, 0x1.dac9dcp-5f,
                      -0x1.fed14ep-6f, 0x1.65a64ap-7f,  -0x1.d62fd2p-10f};
};
static constexpr ArcSeries kArcSeries;

// pi / 2 as a float and what that lacks.
constexpr float kHalfPi = 0x1.921fb6p+0f, kHalfPiRest = -0x1.777a5cp-25f;

// y where |x| <= 1, else NaN
template <int lanes>
ETCH_INLINE Floats<lanes> of_arcs(const Floats<lanes>& x, const Floats<lanes>& y) {
  const Lanes<lanes> is_inside = not_below(all_lanes<lanes>(1.0f), magnitudes(x));
  return choose(is_inside, y, all_lanes<lanes>(no_number_f32()));
}

// Above 1/2, asin x = pi / 2 - 2 asin r with r^2 = (1 - x) / 2: r where `is_high`, and how much
// more the arc of r, or else of x, is in proportion to it.
template <int lanes>
struct ArcParts {
  Lanes<lanes> is_high;
  Floats<lanes> root, more;
};
template <int lanes>
ETCH_INLINE ArcParts<lanes> arc_parts_of(const Floats<lanes>& size) {
  const Floats<lanes> half = all_lanes<lanes>(0.5f);
  const Floats<lanes> square = product(difference(all_lanes<lanes>(1.0f), size), half);
  const Lanes<lanes> is_high = below(half, size);
  const Floats<lanes> t = choose(is_high, square, product(size, size));
  return {is_high, roots(square), product(t, plain_polynomial(kArcSeries.sine, t))};
}

template <int lanes>
ETCH_INLINE Floats<lanes> arc_sines(const Floats<lanes>& x) {
  const Floats<lanes> zero = all_lanes<lanes>(0.0f), size = magnitudes(x);
  const ArcParts<lanes> of = arc_parts_of(size);
  const Floats<lanes> arc = choose(of.is_high, product(of.root, all_lanes<lanes>(-2.0f)), size);
  const Floats<lanes> from = choose(of.is_high, all_lanes<lanes>(kHalfPi), zero);
  const Floats<lanes> rest = choose(of.is_high, all_lanes<lanes>(kHalfPiRest), zero);
  const Floats<lanes> near = sum(from, arc);
  const Floats<lanes> lost = difference(arc, difference(near, from));  // exact
  const Floats<lanes> y = sum(near, sum(sum(product(arc, of.more), rest), lost));
  return of_arcs(x, signed_as(y, x));
}

template <int lanes>
ETCH_INLINE Floats<lanes> arc_cosines(const Floats<lanes>& x) {
  const Floats<lanes> zero = all_lanes<lanes>(0.0f);
  const ArcParts<lanes> of = arc_parts_of(magnitudes(x));
  const Lanes<lanes> is_low = below(x, zero);
  const Floats<lanes> twice = signed_as(product(of.root, all_lanes<lanes>(2.0f)), x);
  const Floats<lanes> arc = choose(of.is_high, twice, negated(x));
  const Floats<lanes> end = choose(is_low, all_lanes<lanes>(2.0f * kHalfPi), zero);
  const Floats<lanes> end_rest = choose(is_low, all_lanes<lanes>(2.0f * kHalfPiRest), zero);
  const Floats<lanes> from = choose(of.is_high, end, all_lanes<lanes>(kHalfPi));
  const Floats<lanes> rest = choose(of.is_high, end_rest, all_lanes<lanes>(kHalfPiRest));
  return of_arcs(x, sum(from, sum(arc, sum(product(arc, of.more), rest))));
}

// Above 1, atan x = pi / 2 - atan (1 / x).
template <int lanes>
ETCH_INLINE Floats<lanes> arc_tangents(const Floats<lanes>& x) {
  const Floats<lanes> zero = all_lanes<lanes>(0.0f), one = all_lanes<lanes>(1.0f);
  const Floats<lanes> size = magnitudes(x);
  const Lanes<lanes> is_large = below(one, size);
  const Floats<lanes> arc = choose(is_large, negated(quotient(one, size)), size);
  const Floats<lanes> t = product(arc, arc);
  const Floats<lanes> more = product(t, plain_polynomial(kArcSeries.tangent, t));
  const Floats<lanes> from = choose(is_large, all_lanes<lanes>(kHalfPi), zero);
  const Floats<lanes> rest = choose(is_large, all_lanes<lanes>(kHalfPiRest), zero);
  const Floats<lanes> y = sum(sum(from, arc), sum(product(arc, more), rest));
  return choose(are_numbers(x), signed_as(y, x), all_lanes<lanes>(no_number_f32()));
}

// ---- the operators ----

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
#define ETCH_SOME_FLOATS(Name, one, some, one_by_one)           \
  struct Name : Trigonometric {                                 \
    ETCH_INLINE float of(float x, float, float) { return one; } \
  };
#endif

ETCH_SOME_FLOATS(Acos, arc_cosines(Floats<1>{x}).v, arc_cosines(x), false)
ETCH_SOME_FLOATS(Acosh, acosh_f32(x), area_cosines(x), false)
ETCH_SOME_FLOATS(Asin, arc_sines(Floats<1>{x}).v, arc_sines(x), false)
ETCH_SOME_FLOATS(Asinh, asinh_f32(x), area_sines(x), false)
ETCH_SOME_FLOATS(Atan, arc_tangents(Floats<1>{x}).v, arc_tangents(x), false)
ETCH_SOME_FLOATS(Atanh, atanh_f32(x), area_tangents(x), false)
ETCH_SOME_FLOATS(Cos, sine_f32(x, 1u), sines<1>(x), has_large_angles(x))
ETCH_SOME_FLOATS(Cosh, cosh_f32(x), hyperbolic_cosines(x), false)
ETCH_SOME_FLOATS(Sin, sine_f32(x, 0u), sines<0>(x), has_large_angles(x))
ETCH_SOME_FLOATS(Sinh, sinh_f32(x), hyperbolic_sines(x), false)
ETCH_SOME_FLOATS(Tan, tan_f32(x), tangents(x), has_large_angles(x))

#undef ETCH_SOME_FLOATS

}  // namespace rt
}  // namespace etch
