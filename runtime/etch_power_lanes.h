// pow_f32() of etch_transcendental.h for several floats at once: the same steps in double, in the
// same order, so the same bits; cases are chosen at the end. Quotients by constants are products
// with a correction where the target has fused steps in double, which gives the rounded quotient.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"
#include "etch_intrinsics.h"
#include "etch_transcendental.h"

namespace etch {
namespace rt {

#if defined(ETCH_FOUR_FLOATS)

// ---- doubles ----

// `lanes` doubles in two vectors, each as wide as one of as many floats. Whatever is done is done
// to both, so that two chains of steps that wait for each other are under way at a time.
template <int lanes>
struct Doubles {
  typedef double Vector __attribute__((vector_size(4 * lanes)));
  Vector low, high;
};

template <int lanes>
struct DoubleBits {
  typedef uint64_t Vector __attribute__((vector_size(4 * lanes)));
  Vector low, high;
};

template <int lanes>
ETCH_INLINE DoubleBits<lanes> bits_of(const Doubles<lanes>& x) {
  DoubleBits<lanes> out;
  ETCH_MEMCPY(&out, &x, sizeof out);
  return out;
}

template <int lanes>
ETCH_INLINE Doubles<lanes> from_bits(const DoubleBits<lanes>& bits) {
  Doubles<lanes> out;
  ETCH_MEMCPY(&out, &bits, sizeof out);
  return out;
}

template <int lanes>
ETCH_INLINE DoubleBits<lanes> masked(const DoubleBits<lanes>& x, uint64_t mask) {
  return {x.low & mask, x.high & mask};
}

template <int lanes>
ETCH_INLINE DoubleBits<lanes> united(const DoubleBits<lanes>& a, const DoubleBits<lanes>& b) {
  return {a.low | b.low, a.high | b.high};
}

template <int lanes>
ETCH_INLINE Doubles<lanes> all_doubles(double value) {
  const auto each = value - typename Doubles<lanes>::Vector{};  // -0 - 0 is -0
  return {each, each};
}

template <int lanes>
ETCH_INLINE Doubles<lanes> product(const Doubles<lanes>& a, const Doubles<lanes>& b) {
  return {product_vector(a.low, b.low), product_vector(a.high, b.high)};
}

template <int lanes>
ETCH_INLINE Doubles<lanes> sum(const Doubles<lanes>& a, const Doubles<lanes>& b) {
  return {a.low + b.low, a.high + b.high};
}

template <int lanes>
ETCH_INLINE Doubles<lanes> difference(const Doubles<lanes>& a, const Doubles<lanes>& b) {
  return {a.low - b.low, a.high - b.high};
}

template <int lanes>
ETCH_INLINE Doubles<lanes> quotient(const Doubles<lanes>& a, const Doubles<lanes>& b) {
  return {a.low / b.low, a.high / b.high};
}

template <int lanes>
ETCH_INLINE Doubles<lanes> plus(const Doubles<lanes>& a, double b) {
  return sum(a, all_doubles<lanes>(b));
}

template <int lanes>
ETCH_INLINE Doubles<lanes> times(const Doubles<lanes>& a, double b) {
  return product(a, all_doubles<lanes>(b));
}

#if defined(__FMA__)
template <class Vector>
ETCH_INLINE Vector fused_rest_vector(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Vector) == 64) return _mm512_fnmadd_pd(a, b, c);
#endif
  if constexpr (sizeof(Vector) == 32) return _mm256_fnmadd_pd(a, b, c);
  if constexpr (sizeof(Vector) == 16) return _mm_fnmadd_pd(a, b, c);
}

// c - a * b, rounded once.
template <int lanes>
ETCH_INLINE Doubles<lanes> fused_rest(const Doubles<lanes>& a, const Doubles<lanes>& b,
                                      const Doubles<lanes>& c) {
  return {fused_rest_vector(a.low, b.low, c.low), fused_rest_vector(a.high, b.high, c.high)};
}
#endif

// x / divisor for 3, 5, 7, 9 and 11. With f the rounded 1 / divisor, fl(x * f) is within a unit of
// the last place of the quotient, and one step with the exact rest rounds it (Markstein). The last
// step is q + rest * f, as q - rest * -f.
template <int divisor, int lanes>
ETCH_INLINE Doubles<lanes> over(const Doubles<lanes>& x) {
#if defined(__FMA__)
  const Doubles<lanes> near = times(x, 1.0 / divisor);
  const Doubles<lanes> rest = fused_rest(near, all_doubles<lanes>(divisor), x);
  return fused_rest(rest, all_doubles<lanes>(-1.0 / divisor), near);
#else
  return quotient(x, all_doubles<lanes>(divisor));
#endif
}

// ---- logarithm and exponential ----

// sum * square + 1 / k, for k and all smaller odd ones.
template <int k, int lanes>
ETCH_INLINE Doubles<lanes> odd_terms(const Doubles<lanes>& sum, const Doubles<lanes>& square) {
  const Doubles<lanes> next = plus(product(sum, square), 1.0 / k);
  if constexpr (k > 1) {
    return odd_terms<k - 2>(next, square);
  } else {
    return next;
  }
}

// log2_double(). The sign bit of x is 0; any value where x is not positive and finite.
template <int lanes>
ETCH_INLINE Doubles<lanes> logarithms_to_two(const Doubles<lanes>& x) {
  const Doubles<lanes> one = all_doubles<lanes>(1.0);
  const DoubleBits<lanes> bits = bits_of(x);
  const Doubles<lanes> m = from_bits(united(masked(bits, 0xfffffffffffffu), bits_of(one)));
  // What is above sqrt 2 is halved: one less in the field of the exponent.
  const auto root = all_doubles<lanes>(1.4142135623730951).low;
  const DoubleBits<lanes> halved{(m.low > root) & 0x10000000000000u,
                                 (m.high > root) & 0x10000000000000u};
  const DoubleBits<lanes> m_bits = bits_of(m);
  const Doubles<lanes> fraction =
      from_bits(DoubleBits<lanes>{m_bits.low - halved.low, m_bits.high - halved.high});
  // 2^52 plus the exponent as it is stored.
  const DoubleBits<lanes> stored{(bits.low + halved.low) >> 52, (bits.high + halved.high) >> 52};
  const DoubleBits<lanes> above = bits_of(all_doubles<lanes>(4503599627370496.0));
  const Doubles<lanes> exponent = plus(from_bits(united(stored, above)), -4503599627371519.0);
  const Doubles<lanes> s = quotient(plus(fraction, -1.0), plus(fraction, 1.0));
  const Doubles<lanes> terms = odd_terms<19>(all_doubles<lanes>(1.0 / 21.0), product(s, s));
  return sum(exponent, product(terms, times(s, 2.8853900817779268)));
}

// sum * (r / k) + 1, for k and all smaller ones. Halves and quarters of a quotient are exact.
template <int k, int lanes>
ETCH_INLINE Doubles<lanes> exponential_terms(const Doubles<lanes>& sum,
                                             const Doubles<lanes> (&quotients)[6]) {
  constexpr int kOdd = k % 8 == 0 ? k / 8 : (k % 4 == 0 ? k / 4 : (k % 2 == 0 ? k / 2 : k));
  Doubles<lanes> each = quotients[kOdd / 2];
  if constexpr (kOdd != k) each = times(each, static_cast<double>(kOdd) / k);
  const Doubles<lanes> next = plus(product(sum, each), 1.0);
  if constexpr (k > 1) {
    return exponential_terms<k - 1>(next, quotients);
  } else {
    return next;
  }
}

// The sign of each.
template <int lanes>
ETCH_INLINE Doubles<lanes> signed_as(const Doubles<lanes>& size, const DoubleBits<lanes>& sign) {
  return from_bits(united(bits_of(size), sign));
}

// exp2_rounded() before the last rounding, of any x, which is limited to [-160, 160] first: 2^160
// rounds to infinity and 2^-160 to 0. Any value where x is NaN.
template <int lanes>
ETCH_INLINE Doubles<lanes> exponentials_of_two(const Doubles<lanes>& x) {
  const DoubleBits<lanes> sign = masked(bits_of(x), 0x8000000000000000u);
  const Doubles<lanes> size = from_bits(masked(bits_of(x), 0x7fffffffffffffffu));
  const auto most = all_doubles<lanes>(160.0).low;
  const Doubles<lanes> limited{size.low < most ? size.low : most,
                               size.high < most ? size.high : most};
  // The size plus a half without what is after the point: rounded, less one where that went up.
  const Doubles<lanes> more = plus(limited, 0.5);
  const Doubles<lanes> rounded = plus(plus(more, 4503599627370496.0), -4503599627370496.0);
  const Doubles<lanes> lower = plus(rounded, -1.0);
  const Doubles<lanes> whole{rounded.low > more.low ? lower.low : rounded.low,
                             rounded.high > more.high ? lower.high : rounded.high};
  const Doubles<lanes> power = signed_as(whole, sign);
  const Doubles<lanes> r = times(difference(signed_as(limited, sign), power), 0.69314718055994531);
  const Doubles<lanes> quotients[6] = {r,          over<3>(r), over<5>(r),
                                       over<7>(r), over<9>(r), over<11>(r)};
  const Doubles<lanes> terms = exponential_terms<12>(all_doubles<lanes>(1.0), quotients);
  // The low bits of 2^52 + 2^51 + power + 1023 are those of the stored exponent.
  const DoubleBits<lanes> stored = bits_of(plus(power, 6755399441056767.0));
  return product(terms, from_bits(DoubleBits<lanes>{stored.low << 52, stored.high << 52}));
}

// ---- power ----

template <int lanes>
ETCH_INLINE Lanes<lanes> equal(const Floats<lanes>& a, const Floats<lanes>& b) {
  return {a.v == b.v};
}

// In double: exact.
template <int lanes>
ETCH_INLINE Doubles<lanes> widened(const Floats<lanes>& x) {
  typedef float Half __attribute__((vector_size(2 * lanes)));
  Half half[2];
  ETCH_MEMCPY(half, &x, sizeof half);
  using Vector = typename Doubles<lanes>::Vector;
  return {__builtin_convertvector(half[0], Vector), __builtin_convertvector(half[1], Vector)};
}

template <int lanes>
ETCH_INLINE Floats<lanes> rounded_to_floats(const Doubles<lanes>& x) {
  typedef float Half __attribute__((vector_size(2 * lanes)));
  const Half half[2] = {__builtin_convertvector(x.low, Half),
                        __builtin_convertvector(x.high, Half)};
  Floats<lanes> out;
  ETCH_MEMCPY(&out, half, sizeof out);
  return out;
}

// The float nearest 2^(b * log2 a) for positive finite a; any value for others.
template <int lanes>
ETCH_INLINE Floats<lanes> positive_powers(const Floats<lanes>& a, const Floats<lanes>& b) {
  const Doubles<lanes> power = product(widened(b), logarithms_to_two(widened(a)));
  return rounded_to_floats(exponentials_of_two(power));
}

#endif

// pow_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> powers(const Floats<lanes>& a, const Floats<lanes>& b) {
  if constexpr (lanes == 1) {
    return {pow_f32(a.v, b.v)};
  } else {
#if defined(ETCH_FOUR_FLOATS)
    const Floats<lanes> zero = all_lanes<lanes>(0.0f), one = all_lanes<lanes>(1.0f);
    const Floats<lanes> infinity = all_lanes<lanes>(bits_float(0x7f800000u));
    const Floats<lanes> no_number = all_lanes<lanes>(bits_float(0x7fc00000u));
    const Floats<lanes> size = magnitudes(a), b_size = magnitudes(b);
    // Exponents of 2^24 and more are even, or infinite.
    const Lanes<lanes> small = below(b_size, all_lanes<lanes>(16777216.0f));
    const Ints<lanes> integer = to_ints(choose(small, b, zero));
    const Lanes<lanes> whole = equal(choose(small, to_floats(integer), b), b);
    // The sign bit where a is negative and b is odd.
    const Floats<lanes> sign = from_bits(Ints<lanes>{bits_of(a).v & whole.v & (integer.v << 31)});
    Floats<lanes> y = positive_powers(size, b);
    // 0 and infinity to any exponent; anything to an infinite exponent.
    const auto grows_below_one = below(b, zero).v;
    const auto is_zero = equal(size, zero).v, is_infinite = equal(size, infinity).v;
    const Floats<lanes> of_zero = choose(Lanes<lanes>{grows_below_one}, infinity, zero);
    const Floats<lanes> of_infinity = choose(Lanes<lanes>{grows_below_one}, zero, infinity);
    const auto b_is_infinite = equal(b_size, infinity).v;
    y = choose(Lanes<lanes>{is_zero | (b_is_infinite & below(size, one).v)}, of_zero, y);
    y = choose(Lanes<lanes>{is_infinite | (b_is_infinite & below(one, size).v)}, of_infinity, y);
    y = signed_as(y, sign);
    const auto negative = below(a, zero).v & ~is_infinite;
    y = choose(Lanes<lanes>{negative & ~whole.v}, no_number, y);
    y = choose(Lanes<lanes>{are_numbers(a).v & are_numbers(b).v}, y, no_number);
    const auto is_one = equal(a, one).v;
    const auto to_zero = equal(b_size, zero).v;
    const auto to_infinity = b_is_infinite & equal(size, one).v;
    return choose(Lanes<lanes>{is_one | to_zero | to_infinity}, one, y);
#endif
  }
}

}  // namespace rt
}  // namespace etch
