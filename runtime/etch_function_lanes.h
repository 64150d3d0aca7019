// The functions of etch_transcendental.h and etch_float.h for several floats at once: the same
// steps in the same order, so the same bits; both sides of each branch are computed and one is
// chosen. One lane is the scalar function itself. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"
#include "etch_transcendental.h"

namespace etch {
namespace rt {

// 2^power; power in [-126, 127].
template <int lanes>
ETCH_INLINE Floats<lanes> powers_of_two(const Ints<lanes>& power) {
  return from_bits(Ints<lanes>{(power.v + 127) << 23});
}

// x * 2^power as scale_by_power_of_two() has it; `whole` is the same as `power`. The first of two
// products is exact, so only the second rounds.
template <int lanes>
ETCH_INLINE Floats<lanes> scaled(const Floats<lanes>& x, const Ints<lanes>& power,
                                 const Floats<lanes>& whole) {
#if defined(__GNUC__) && defined(__AVX512F__)
  if constexpr (lanes == 16) return {_mm512_mask_scalef_ps(x.v, kAllLanes, x.v, whole.v)};
#endif
  static_cast<void>(whole);
  const Ints<lanes> half{power.v >> 1};
  const Ints<lanes> rest{power.v - half.v};
  return product(product(x, powers_of_two(half)), powers_of_two(rest));
}

// e^x in pieces: e^x = sum * 2^(power - scale). -104 <= x <= 89. Of `power` with scale -64 only the
// last 8 bits count, of power + 64 + 127.
template <int lanes>
struct Exponential {
  Floats<lanes> sum, whole;
  Ints<lanes> power;
};

static constexpr float kLog2OfE = 1.44269504088896341f;
static constexpr float kMinusLn2High = -6.93145752e-1f, kMinusLn2Low = -1.42860677e-6f;
static constexpr float kLeastExponent = -103.9720840454f;  // e^x rounds to 0
static constexpr float kWholeBias = 12582912.0f;

// With 2^-64 as a factor of the sum, 2^(power + 64) is a normal number for powers in [-150, 0], and
// its exponent is in the last bits of this bias and the power. The bias is odd: no float in
// [-104, 89] but 0 has a product with log2 e halfway between two integers, so that rounds the same.
static constexpr float kExponentBias = kWholeBias + 64 + 127;

template <int scale, int lanes>
ETCH_INLINE Exponential<lanes> exponential(const Floats<lanes>& x) {
  constexpr float kOne = scale == 0 ? 1.0f : 0x1p-64f;
  static constexpr float kPolynomial[7] = {kOne,
                                           kOne,
                                           kOne * 0x1.fffff6p-2f,
                                           kOne * 0x1.555450p-3f,
                                           kOne * 0x1.555b5ap-5f,
                                           kOne * 0x1.125edcp-7f,
                                           kOne * 0x1.694000p-10f};
  const Floats<lanes> bias = all_lanes<lanes>(scale == 0 ? kWholeBias : kExponentBias);
  const Floats<lanes> biased = fused(x, all_lanes<lanes>(kLog2OfE), bias);
  const Floats<lanes> whole = difference(biased, bias);  // exact
  const Floats<lanes> high = fused(whole, all_lanes<lanes>(kMinusLn2High), x);
  const Floats<lanes> rest = fused(whole, all_lanes<lanes>(kMinusLn2Low), high);
  Ints<lanes> power = bits_of(biased);
  if constexpr (scale == 0) power.v = power.v - bits_of(bias).v;
  return {fused_polynomial(kPolynomial, rest), whole, power};
}

// The number whose exponent is in the last 8 bits.
template <int lanes>
ETCH_INLINE Floats<lanes> with_exponent(const Ints<lanes>& bits) {
#if defined(__GNUC__)
  typedef uint32_t Words __attribute__((vector_size(4 * lanes)));
  const Words moved = reinterpret_cast<Words>(bits.v) << 23;
  return from_bits(Ints<lanes>{reinterpret_cast<typename Ints<lanes>::Vector>(moved)});
#else
  return from_bits(bits);  // without vectors no code asks for more than one lane
#endif
}

// exp_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> exponentials(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {exp_f32(x.v)};
  } else {
    // The second operand where one is NaN, which every later step keeps.
    const Floats<lanes> above = larger(all_lanes<lanes>(kLeastExponent), x);
    const Exponential<lanes> e = exponential<0>(smaller(all_lanes<lanes>(89.0f), above));
    return scaled(e.sum, e.power, e.whole);
  }
}

// exp_f32() of what is not above 0, or is NaN. One product rounds as the second of two.
template <int lanes>
ETCH_INLINE Floats<lanes> exponentials_up_to_one(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {exp_f32(x.v)};
  } else {
    // The second operand where one is NaN, which every later step keeps.
    const Floats<lanes> above = limit_or_nan<true>(all_lanes<lanes>(kLeastExponent), x);
#if defined(__GNUC__) && defined(__AVX512F__)
    if constexpr (lanes == 16) {
      const Exponential<lanes> e = exponential<0>(above);
      return scaled(e.sum, e.power, e.whole);
    }
#endif
    const Exponential<lanes> e = exponential<-64>(above);
    return product(e.sum, with_exponent(e.power));
  }
}

#if defined(__GNUC__) && defined(__aarch64__)
// Addends of fused steps, each for two vectors: FMLA overwrites its addend, and a load of a pair
// takes the place of two copies.
#define ETCH_PAIR(c) c, c, c, c, c, c, c, c
static constexpr float kPairsOfExponential[7][8] = {{ETCH_PAIR(0x1p-64f)},
                                                    {ETCH_PAIR(0x1p-64f)},
                                                    {ETCH_PAIR(0x1p-64f * 0x1.fffff6p-2f)},
                                                    {ETCH_PAIR(0x1p-64f * 0x1.555450p-3f)},
                                                    {ETCH_PAIR(0x1p-64f * 0x1.555b5ap-5f)},
                                                    {ETCH_PAIR(0x1p-64f * 0x1.125edcp-7f)},
                                                    {ETCH_PAIR(kExponentBias)}};
#undef ETCH_PAIR

struct FourVectors {
  Floats<4> a, b, c, d;
};

ETCH_INLINE FourVectors load_four(const float* p) {
  return {load<4>(p), load<4>(p + 4), load<4>(p + 8), load<4>(p + 12)};
}

ETCH_INLINE void store_four(float* p, const FourVectors& x) {
  store(p, x.a);
  store(p + 4, x.b);
  store(p + 8, x.c);
  store(p + 12, x.d);
}

// x * y + the addend of row `at`. One statement, so that the addends remain in memory.
template <int at>
ETCH_INLINE FourVectors fused_four(const FourVectors& x, const FourVectors& y) {
  FourVectors out;
  __asm__(
      "ldp %q0, %q1, [%12, %13]\n\tldp %q2, %q3, [%12, %13]\n\t"
      "fmla %0.4s, %4.4s, %8.4s\n\tfmla %1.4s, %5.4s, %9.4s\n\t"
      "fmla %2.4s, %6.4s, %10.4s\n\tfmla %3.4s, %7.4s, %11.4s"
      : "=&w"(out.a.v), "=&w"(out.b.v), "=&w"(out.c.v), "=&w"(out.d.v)
      : "w"(x.a.v), "w"(x.b.v), "w"(x.c.v), "w"(x.d.v), "w"(y.a.v), "w"(y.b.v), "w"(y.c.v),
        "w"(y.d.v), "r"(kPairsOfExponential), "i"(32 * at), "m"(kPairsOfExponential));
  return out;
}

template <int at>
ETCH_INLINE FourVectors fused_terms(const FourVectors& terms, const FourVectors& rest) {
  const FourVectors more = fused_four<at>(terms, rest);
  if constexpr (at == 0) {
    return more;
  } else {
    return fused_terms<at - 1>(more, rest);
  }
}

// What remains of x where `biased` has the power of two.
ETCH_INLINE Floats<4> rest_of(const Floats<4>& x, const Floats<4>& biased) {
  const Floats<4> whole = difference(biased, all_lanes<4>(kExponentBias));
  const Floats<4> high = fused(whole, all_lanes<4>(kMinusLn2High), x);
  return fused(whole, all_lanes<4>(kMinusLn2Low), high);
}

// x * y. One statement, so that g++ loads and stores in pairs.
ETCH_INLINE FourVectors products_of_four(const FourVectors& x, const FourVectors& y) {
  FourVectors out;
  __asm__(
      "fmul %0.4s, %4.4s, %8.4s\n\tfmul %1.4s, %5.4s, %9.4s\n\t"
      "fmul %2.4s, %6.4s, %10.4s\n\tfmul %3.4s, %7.4s, %11.4s"
      : "=&w"(out.a.v), "=&w"(out.b.v), "=&w"(out.c.v), "=&w"(out.d.v)
      : "w"(x.a.v), "w"(x.b.v), "w"(x.c.v), "w"(x.d.v), "w"(y.a.v), "w"(y.b.v), "w"(y.c.v),
        "w"(y.d.v));
  return out;
}

ETCH_INLINE FourVectors exponentials_up_to_one(const FourVectors& x) {
  const Floats<4> least = all_lanes<4>(kLeastExponent), factor = all_lanes<4>(kLog2OfE);
  const Floats<4> last = all_lanes<4>(0x1p-64f * 0x1.694000p-10f);
  const FourVectors above = {limit_or_nan<true>(least, x.a), limit_or_nan<true>(least, x.b),
                             limit_or_nan<true>(least, x.c), limit_or_nan<true>(least, x.d)};
  const FourVectors biased = fused_four<6>(above, {factor, factor, factor, factor});
  const FourVectors rest = {rest_of(above.a, biased.a), rest_of(above.b, biased.b),
                            rest_of(above.c, biased.c), rest_of(above.d, biased.d)};
  const FourVectors sums = fused_terms<5>({last, last, last, last}, rest);
  return products_of_four(sums,
                          {with_exponent(bits_of(biased.a)), with_exponent(bits_of(biased.b)),
                           with_exponent(bits_of(biased.c)), with_exponent(bits_of(biased.d))});
}
#endif

// sqrt_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> roots(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {sqrt_f32(x.v)};
  } else {
    const Floats<lanes> no_number =
        from_bits(Ints<lanes>{bits_of(all_lanes<lanes>(0.0f)).v | 0x7fc00000});
    return choose(below(x, all_lanes<lanes>(0.0f)), no_number, positive_roots(x));
  }
}

// log_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> logarithms(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {log_f32(x.v)};
  } else {
    static constexpr float kPolynomial[9] = {0x1.555546p-2f,  -0x1.ffffeep-3f, 0x1.99a4dap-3f,
                                             -0x1.5562b4p-3f, 0x1.2339dcp-3f,  -0x1.fb4ff8p-4f,
                                             0x1.e5ff0ap-4f,  -0x1.e28964p-4f, 0x1.1b7bf4p-4f};
    const Floats<lanes> zero = all_lanes<lanes>(0.0f);
    const Floats<lanes> one = all_lanes<lanes>(1.0f);
    const Lanes<lanes> subnormal = below(x, all_lanes<lanes>(0x1p-126f));
    const Floats<lanes> normal = choose(subnormal, product(x, all_lanes<lanes>(0x1p23f)), x);
    // Of lanes that are not positive any value may follow; the bits wrap within 31 bits.
    const Ints<lanes> above{(bits_of(normal).v & 0x7fffffff) - 0x3f3504f3};
    const Floats<lanes> m = from_bits(Ints<lanes>{(above.v & 0x7fffff) + 0x3f3504f3});
    const Floats<lanes> f = difference(m, one);
    const Floats<lanes> correction = choose(subnormal, all_lanes<lanes>(23.0f), zero);
    const Floats<lanes> e = difference(to_floats(Ints<lanes>{above.v >> 23}), correction);
    const Floats<lanes> square = product(f, f);
    const Floats<lanes> cube = product(f, square);
    Floats<lanes> y = product(cube, plain_polynomial(kPolynomial, f));
    y = difference(y, product(all_lanes<lanes>(0.5f), square));
    y = sum(product(e, all_lanes<lanes>(0x1.7f7d1cp-20f)), y);
    y = sum(product(e, all_lanes<lanes>(0x1.62e4p-1f)), sum(f, y));
    const Floats<lanes> infinity = all_lanes<lanes>(bits_float(0x7f800000u));
    const Floats<lanes> no_number = from_bits(Ints<lanes>{bits_of(zero).v | 0x7fc00000});
    y = choose(below(zero, x), y, choose(below(x, zero), no_number, negated(infinity)));
    return choose(below(x, infinity), y, x);  // infinity and NaN stay
  }
}

// x * 2^less, where `biased` is 1.5 * 2^23 - less; -less in [0, 31].
template <int lanes>
ETCH_INLINE Floats<lanes> lowered(const Floats<lanes>& x, const Floats<lanes>& less,
                                  const Floats<lanes>& biased) {
#if defined(__GNUC__) && defined(__AVX512F__)
  if constexpr (lanes == 16) return {_mm512_mask_scalef_ps(x.v, kAllLanes, x.v, less.v)};
#endif
  static_cast<void>(less);
  // Of NaN any power: x is NaN and stays so.
  return product(x, powers_of_two(Ints<lanes>{-(bits_of(biased).v & 31)}));
}

// erf_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> error_functions(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {erf_f32(x.v)};
  } else {
    static constexpr ErfTables kTables;
    const Floats<lanes> size = magnitudes(x);
    const Floats<lanes> small = sum(product(x, plain_polynomial(kTables.below, product(x, x))), x);
    const Floats<lanes> inside = smaller(all_lanes<lanes>(4.0f), size);
    const Floats<lanes> exponent = plain_polynomial(kTables.exponent, inside);
    const Floats<lanes> bias = all_lanes<lanes>(12582912.0f);
    const Floats<lanes> biased = sum(exponent, bias);
    const Floats<lanes> less = difference(bias, biased);  // minus the whole part, exact
    const Floats<lanes> part = plain_polynomial(kTables.power, sum(exponent, less));
    const Floats<lanes> rest = lowered(part, less, biased);
    const Floats<lanes> size_of_large = difference(all_lanes<lanes>(1.0f), rest);  // not below 0
    const Floats<lanes> large =
        from_bits(Ints<lanes>{bits_of(size_of_large).v | (bits_of(x).v & INT32_MIN)});
    return choose(below(size, all_lanes<lanes>(0.875f)), small, large);
  }
}

// tanh_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> hyperbolic_tangents(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {tanh_f32(x.v)};
  } else {
    static constexpr float kOdd[7] = {
        4.89352455891786e-03f,  6.37261928875436e-04f, 1.48572235717979e-05f, 5.12229709037114e-08f,
        -8.60467152213735e-11f, 2.00018790482477e-13f, -2.76076847742355e-16f};
    static constexpr float kEven[4] = {4.89352518554385e-03f, 2.26843463243900e-03f,
                                       1.18534705686654e-04f, 1.19825839466702e-06f};
    const Floats<lanes> above = larger(all_lanes<lanes>(-9.0f), x);
    const Floats<lanes> v = smaller(all_lanes<lanes>(9.0f), above);
    const Floats<lanes> square = product(v, v);
    return quotient(product(fused_polynomial(kOdd, square), v), fused_polynomial(kEven, square));
  }
}

// sigmoid_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> sigmoids(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {sigmoid_f32(x.v)};
  } else {
    static constexpr float kOdd[5] = {2.48287947061529e-01f, 8.51377133304701e-03f,
                                      6.08574864600143e-05f, 1.15627324459942e-07f,
                                      4.37031012579801e-11f};
    static constexpr float kEven[6] = {9.93151921023180e-01f, 1.16817656904453e-01f,
                                       1.70198817374094e-03f, 6.29106785017040e-06f,
                                       5.76102136993427e-09f, 6.10247389755681e-13f};
    const Floats<lanes> above = larger(all_lanes<lanes>(-18.0f), x);
    const Floats<lanes> v = smaller(all_lanes<lanes>(18.0f), above);
    const Floats<lanes> square = product(v, v);
    const Floats<lanes> odd = product(fused_polynomial(kOdd, square), v);
    const Floats<lanes> part = quotient(odd, fused_polynomial(kEven, square));
    const Floats<lanes> y = sum(part, all_lanes<lanes>(0.5f));
    const Floats<lanes> low = larger(all_lanes<lanes>(0.0f), y);
    return smaller(all_lanes<lanes>(1.0f), low);
  }
}

}  // namespace rt
}  // namespace etch
