// The functions of etch_transcendental.h and etch_float.h for several floats at once: the same
// steps in the same order, so the same bits; both sides of each branch are computed and one is
// chosen. One lane is the scalar function itself. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"
#include "etch_neon_functions.h"
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
  static constexpr float kPolynomial[7] = {kOne * 0x1.694000p-10f,
                                           kOne * 0x1.125edcp-7f,
                                           kOne * 0x1.555b5ap-5f,
                                           kOne * 0x1.555450p-3f,
                                           kOne * 0x1.fffff6p-2f,
                                           kOne,
                                           kOne};
  const Floats<lanes> bias = all_lanes<lanes>(scale == 0 ? kWholeBias : kExponentBias);
  const Floats<lanes> biased = fused(x, all_lanes<lanes>(kLog2OfE), bias);
  const Floats<lanes> whole = difference(biased, bias);  // exact
  const Floats<lanes> high = fused(whole, all_lanes<lanes>(kMinusLn2High), x);
  const Floats<lanes> rest = fused(whole, all_lanes<lanes>(kMinusLn2Low), high);
  Ints<lanes> power = bits_of(biased);
  if constexpr (scale == 0) power.v = power.v - bits_of(bias).v;
  return {fused_powers(kPolynomial, rest), whole, power};
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

#if defined(ETCH_ARM_LANES)
// Addends of fused steps, each for four vectors, as exponentials_of_block() takes them: FMLA
// overwrites its addend, and one load takes the place of four copies.
#define ETCH_FOUR_VECTORS(c) c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c
static constexpr float kAddendsOfExponential[7][16] = {
    {ETCH_FOUR_VECTORS(kExponentBias)},
    {ETCH_FOUR_VECTORS(0x1p-64f * 0x1.125edcp-7f)},
    {ETCH_FOUR_VECTORS(0x1p-64f * 0x1.555b5ap-5f)},
    {ETCH_FOUR_VECTORS(0x1p-64f * 0x1.555450p-3f)},
    {ETCH_FOUR_VECTORS(0x1p-64f * 0x1.fffff6p-2f)},
    {ETCH_FOUR_VECTORS(0x1p-64f)},
    {ETCH_FOUR_VECTORS(0x1p-64f)}};
#undef ETCH_FOUR_VECTORS

#define ETCH_X "v16.4s", "v17.4s", "v18.4s", "v19.4s"
#define ETCH_A "v20.4s", "v21.4s", "v22.4s", "v23.4s"
#define ETCH_B "v24.4s", "v25.4s", "v26.4s", "v27.4s"
#define ETCH_C "v12.4s", "v13.4s", "v14.4s", "v15.4s"
#define ETCH_ALL(y) y, y, y, y
#define ETCH_STEPS_OF(op, a, b, c, d, ax, bx, cx, dx, ay, by, cy, dy)                      \
  op " " a ", " ax ", " ay "\n\t" op " " b ", " bx ", " by "\n\t" op " " c ", " cx ", " cy \
     "\n\t" op " " d ", " dx ", " dy "\n\t"
#define ETCH_STEPS(...) ETCH_STEPS_OF(__VA_ARGS__)
#define ETCH_MOVE_OF(op, p, a, b, c, d) op " {" a ", " b ", " c ", " d "}, [" p "], #64\n\t"
#define ETCH_MOVE(...) ETCH_MOVE_OF(__VA_ARGS__)

// y = exponentials_up_to_one() of x - maximum for the 16 elements from x on, added to the sums.
// One statement, because compilers neither load four registers at once nor keep addends in memory.
ETCH_INLINE void exponentials_of_block(const float*& x, float*& y, const Floats<4>& maximum,
                                       Floats<4> (&sums)[4]) {
  const float* addends = kAddendsOfExponential[0];
  // clang-format off
  __asm__ volatile(
      ETCH_MOVE("ld1", "%[x]", ETCH_X)
      ETCH_STEPS("fsub", ETCH_X, ETCH_X, ETCH_ALL("%[most].4s"))
      ETCH_STEPS("fmax", ETCH_X, ETCH_X, ETCH_ALL("%[least].4s"))
      // The power of two, and the rest of x.
      ETCH_MOVE("ld1", "%[c]", ETCH_A) ETCH_STEPS("fmla", ETCH_A, ETCH_X, ETCH_ALL("%[log2e].4s"))
      ETCH_STEPS("fsub", ETCH_B, ETCH_A, ETCH_ALL("%[bias].4s"))
      ETCH_STEPS("fmla", ETCH_X, ETCH_B, ETCH_ALL("%[high].4s"))
      ETCH_STEPS("fmla", ETCH_X, ETCH_B, ETCH_ALL("%[low].4s"))
      // The polynomial of the rest.
      ETCH_MOVE("ld1", "%[c]", ETCH_B) ETCH_STEPS("fmla", ETCH_B, ETCH_X, ETCH_ALL("%[last].4s"))
      ETCH_MOVE("ld1", "%[c]", ETCH_C) ETCH_STEPS("fmla", ETCH_C, ETCH_B, ETCH_X)
      ETCH_MOVE("ld1", "%[c]", ETCH_B) ETCH_STEPS("fmla", ETCH_B, ETCH_C, ETCH_X)
      ETCH_MOVE("ld1", "%[c]", ETCH_C) ETCH_STEPS("fmla", ETCH_C, ETCH_B, ETCH_X)
      ETCH_MOVE("ld1", "%[c]", ETCH_B) ETCH_STEPS("fmla", ETCH_B, ETCH_C, ETCH_X)
      ETCH_MOVE("ld1", "%[c]", ETCH_C) ETCH_STEPS("fmla", ETCH_C, ETCH_B, ETCH_X)
      // Times the power.
      ETCH_STEPS("shl", ETCH_A, ETCH_A, ETCH_ALL("#23"))
      ETCH_STEPS("fmul", ETCH_C, ETCH_C, ETCH_A)
      ETCH_MOVE("st1", "%[y]", ETCH_C)
      "fadd %0.4s, %0.4s, v12.4s\n\tfadd %1.4s, %1.4s, v13.4s\n\t"
      "fadd %2.4s, %2.4s, v14.4s\n\tfadd %3.4s, %3.4s, v15.4s"
      : "+w"(sums[0].v), "+w"(sums[1].v), "+w"(sums[2].v), "+w"(sums[3].v), [x] "+r"(x),
        [y] "+r"(y), [c] "+r"(addends)
      : [most] "w"(maximum.v), [least] "w"(all_lanes<4>(kLeastExponent).v),
        [log2e] "w"(all_lanes<4>(kLog2OfE).v), [bias] "w"(all_lanes<4>(kExponentBias).v),
        [high] "w"(all_lanes<4>(kMinusLn2High).v), [low] "w"(all_lanes<4>(kMinusLn2Low).v),
        [last] "w"(all_lanes<4>(0x1p-64f * 0x1.694000p-10f).v)
      : "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "memory");
  // clang-format on
}

// The 16 elements from y on, each times `factor`.
ETCH_INLINE void scale_block(float*& y, const Floats<4>& factor) {
  __asm__ volatile("ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%[y]]\n\t" ETCH_STEPS(
                       "fmul", ETCH_X, ETCH_X, ETCH_ALL("%[factor].4s"))
                       ETCH_MOVE("st1", "%[y]", ETCH_X)
                   : [y] "+r"(y)
                   : [factor] "w"(factor.v)
                   : "v16", "v17", "v18", "v19", "memory");
}
#undef ETCH_X
#undef ETCH_A
#undef ETCH_B
#undef ETCH_C
#undef ETCH_ALL
#undef ETCH_STEPS_OF
#undef ETCH_STEPS
#undef ETCH_MOVE_OF
#undef ETCH_MOVE
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
    const Floats<lanes> above = larger(all_lanes<lanes>(-9.0f), x);
    const Floats<lanes> v = smaller(all_lanes<lanes>(9.0f), above);
    const Floats<lanes> square = product(v, v);
    return quotient(product(fused_powers(kTanhOdd, square), v), fused_powers(kTanhEven, square));
  }
}

// sigmoid_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> sigmoids(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {sigmoid_f32(x.v)};
  } else {
    const Floats<lanes> above = larger(all_lanes<lanes>(-18.0f), x);
    const Floats<lanes> v = smaller(all_lanes<lanes>(18.0f), above);
    const Floats<lanes> square = product(v, v);
    const Floats<lanes> odd = product(fused_powers(kSigmoidOdd, square), v);
    const Floats<lanes> part = quotient(odd, fused_powers(kSigmoidEven, square));
    const Floats<lanes> y = sum(part, all_lanes<lanes>(0.5f));
    const Floats<lanes> low = larger(all_lanes<lanes>(0.0f), y);
    return smaller(all_lanes<lanes>(1.0f), low);
  }
}

}  // namespace rt
}  // namespace etch
