// Operators of one float: exponentials, error function, powers, roots, activations; and what
// division leaves. C++17, freestanding, no heap, no state, no libm. The same bits on every target,
// by the rules of etch_float.h; docs/spec/float.md has their errors. alpha and beta are what some
// of them need besides x. Each is written once, for any number of lanes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_any_bit.h"
#include "etch_elementwise.h"
#include "etch_float.h"
#include "etch_function_lanes.h"
#include "etch_power_lanes.h"
#include "etch_transcendental.h"

namespace etch {
namespace rt {

// ---- parts ----

// floor_f32()
template <int lanes>
ETCH_INLINE Floats<lanes> floors(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {floor_f32(x.v)};
  } else {
    const Lanes<lanes> has_fraction = below(magnitudes(x), all_lanes<lanes>(8388608.0f));
    const Floats<lanes> inside = choose(has_fraction, x, all_lanes<lanes>(0.0f));
    const Floats<lanes> whole = to_floats(to_ints(inside));
    const Floats<lanes> less = difference(whole, all_lanes<lanes>(1.0f));
    return choose(has_fraction, signed_as(choose(below(x, whole), less, whole), x), x);
  }
}

// ---- compositions ----

template <int lanes>
ETCH_INLINE Floats<lanes> limited_lines(const Floats<lanes>& x, const Floats<lanes>& alpha,
                                        const Floats<lanes>& beta) {
  const Floats<lanes> line = sum(product(alpha, x), beta);
  return AtMost::of(AtLeast::of(line, all_lanes<lanes>(0.0f)), all_lanes<lanes>(1.0f));
}

// ln(1 + e^x), from below by at most 6e-8 for small results.
template <int lanes>
ETCH_INLINE Floats<lanes> softplus(const Floats<lanes>& x) {
  const Floats<lanes> small = exponentials(negated(magnitudes(x)));
  const Floats<lanes> zero = all_lanes<lanes>(0.0f);
  return sum(choose(below(zero, x), x, zero), logarithms(sum(small, all_lanes<lanes>(1.0f))));
}

template <int lanes>
ETCH_INLINE Floats<lanes> gelu(const Floats<lanes>& x) {
  const Floats<lanes> half = product(all_lanes<lanes>(0.5f), x);
  const Floats<lanes> error = error_functions(product(x, all_lanes<lanes>(0.70710678f)));
  return product(half, sum(error, all_lanes<lanes>(1.0f)));
}

template <int lanes>
ETCH_INLINE Floats<lanes> gelu_by_tanh(const Floats<lanes>& x) {
  const Floats<lanes> curved = product(product(x, x), all_lanes<lanes>(0.035677408136f));
  const Floats<lanes> slope = sum(curved, all_lanes<lanes>(0.7978845608f));
  const Floats<lanes> bent = hyperbolic_tangents(product(x, slope));
  return product(product(all_lanes<lanes>(0.5f), x), sum(bent, all_lanes<lanes>(1.0f)));
}

// alpha * (e^x - 1)
template <int lanes>
ETCH_INLINE Floats<lanes> elu_below_zero(const Floats<lanes>& x, const Floats<lanes>& alpha) {
  return product(alpha, difference(exponentials(x), all_lanes<lanes>(1.0f)));
}

// where ? x : alpha * (e^scaled - 1); one lane computes the exponential only where it counts.
// No lambda says so: each would be a function that files for several instruction sets share.
template <int lanes>
ETCH_INLINE Floats<lanes> or_elu(const Lanes<lanes>& where, const Floats<lanes>& x,
                                 const Floats<lanes>& scaled, const Floats<lanes>& alpha) {
  if constexpr (lanes == 1) {
    if (where.v) return x;
    return elu_below_zero(scaled, alpha);
  } else {
    return choose(where, x, elu_below_zero(scaled, alpha));
  }
}

template <int lanes>
ETCH_INLINE Floats<lanes> softsign(const Floats<lanes>& x) {
  const Floats<lanes> one = all_lanes<lanes>(1.0f);
  return product(quotient(one, sum(one, magnitudes(x))), x);
}

template <int lanes>
ETCH_INLINE Floats<lanes> signs(const Floats<lanes>& x) {
  const Floats<lanes> zero = all_lanes<lanes>(0.0f);
  const Floats<lanes> one = all_lanes<lanes>(1.0f);
  const Floats<lanes> low = choose(below(x, zero), negated(one), zero);
  return choose(are_numbers(x), choose(below(zero, x), one, low), x);
}

// ---- the operators ----

#define ETCH_FLOAT_FUNCTION(Name, expression)                                        \
  struct Name {                                                                      \
    template <int lanes>                                                             \
    ETCH_INLINE Floats<lanes> of(const Floats<lanes>& x, const Floats<lanes>& alpha, \
                                 const Floats<lanes>& beta) {                        \
      const Floats<lanes> zero = all_lanes<lanes>(0.0f);                             \
      static_cast<void>(zero);                                                       \
      static_cast<void>(alpha);                                                      \
      static_cast<void>(beta);                                                       \
      return expression;                                                             \
    }                                                                                \
    ETCH_INLINE float of(float x, float alpha, float beta) {                         \
      return of<1>(Floats<1>{x}, Floats<1>{alpha}, Floats<1>{beta}).v;               \
    }                                                                                \
  };                                                                                 \
  template <>                                                                        \
  struct HasVectors<Name> {                                                          \
    enum { value = 1 };                                                              \
  };

ETCH_FLOAT_FUNCTION(Abs, magnitudes(x))
ETCH_FLOAT_FUNCTION(Ceil, negated(floors(negated(x))))
ETCH_FLOAT_FUNCTION(Celu, or_elu(below(zero, x), x, quotient(x, alpha), alpha))
ETCH_FLOAT_FUNCTION(Cube, product(product(x, x), x))
ETCH_FLOAT_FUNCTION(Elu, or_elu(not_below(x, zero), x, x, alpha))
ETCH_FLOAT_FUNCTION(Erf, error_functions(x))
ETCH_FLOAT_FUNCTION(Exp, exponentials(x))
ETCH_FLOAT_FUNCTION(Floor, floors(x))
ETCH_FLOAT_FUNCTION(Gelu, gelu(x))
ETCH_FLOAT_FUNCTION(GeluTanh, gelu_by_tanh(x))
ETCH_FLOAT_FUNCTION(HardSigmoid, limited_lines(x, alpha, beta))
ETCH_FLOAT_FUNCTION(HardSwish, product(x, limited_lines(x, alpha, beta)))
ETCH_FLOAT_FUNCTION(Log, logarithms(x))
ETCH_FLOAT_FUNCTION(Mish, product(x, hyperbolic_tangents(softplus(x))))
ETCH_FLOAT_FUNCTION(Neg, negated(x))
ETCH_FLOAT_FUNCTION(Pow, powers(x, alpha))
ETCH_FLOAT_FUNCTION(QuickGelu, product(x, sigmoids(product(alpha, x))))
ETCH_FLOAT_FUNCTION(Reciprocal, quotient(all_lanes<lanes>(1.0f), x))
ETCH_FLOAT_FUNCTION(Selu, product(beta, or_elu(below(zero, x), x, x, alpha)))
ETCH_FLOAT_FUNCTION(Sign, signs(x))
ETCH_FLOAT_FUNCTION(Softplus, softplus(x))
ETCH_FLOAT_FUNCTION(Softsign, softsign(x))
ETCH_FLOAT_FUNCTION(Sqrt, roots(x))
ETCH_FLOAT_FUNCTION(Square, product(x, x))
ETCH_FLOAT_FUNCTION(Tanh, hyperbolic_tangents(x))
ETCH_FLOAT_FUNCTION(ThresholdedRelu, choose(below(alpha, x), x, zero))

#undef ETCH_FLOAT_FUNCTION

template <>
struct HasCheckedVectors<Tanh> {
  enum { value = 1 };
};
#if defined(ETCH_NEON_FLOATS)
template <>
struct HasCheckedVectors<Erf> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<Exp> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<Gelu> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<GeluTanh> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<HardSigmoid> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<HardSwish> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<Log> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<QuickGelu> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<Softplus> {
  enum { value = 1 };
};
#endif

// The fraction of a finite x != 0 as an integer with the bit 2^23 set, times 2^exponent.
struct Fraction {
  uint32_t bits;
  int32_t exponent;
};

static inline Fraction fraction_of(float x) {
  const uint32_t bits = float_bits(x) & 0x7fffffffu;
  if (bits >= 0x00800000u) {
    return {(bits & 0x007fffffu) | 0x00800000u, static_cast<int32_t>(bits >> 23)};
  }
  Fraction out = {bits, 1};
  for (; out.bits < 0x00800000u; out.bits <<= 1) --out.exponent;
  return out;
}

// C's fmod, exact: long division, one bit at a time. NaN where there is no result.
static inline float remainder_f32(float a, float b) {
  const float divisor = magnitude_of(b);
  if (is_nan(a) || is_nan(b) || magnitude_of(a) == bits_float(0x7f800000u) || divisor == 0.0f)
    return bits_float(0x7fc00000u);
  if (magnitude_of(a) < divisor) return a;
  Fraction left = fraction_of(a);
  const Fraction by = fraction_of(b);
  for (; left.exponent > by.exponent; --left.exponent) {
    if (left.bits >= by.bits) left.bits -= by.bits;
    left.bits <<= 1;
  }
  if (left.bits >= by.bits) left.bits -= by.bits;
  if (left.bits == 0u) return with_sign_of(0.0f, a);
  for (; left.bits < 0x00800000u; left.bits <<= 1) --left.exponent;
  const uint32_t magnitude =
      left.exponent > 0 ? (left.bits & 0x007fffffu) | static_cast<uint32_t>(left.exponent) << 23
                        : left.bits >> static_cast<uint32_t>(1 - left.exponent);
  return with_sign_of(bits_float(magnitude), a);
}

#if defined(ETCH_FOUR_FLOATS)
// remainder_f32() by a division: where the ratio is below 2^23, what it has before the point is
// right or, where the ratio was rounded up to it, 1 too large. So what is left is not below the
// divisor's negative, a multiple of its last bit, and a float: nothing is rounded.
template <int lanes>
ETCH_INLINE Floats<lanes> remainders(const Floats<lanes>& a, const Floats<lanes>& b) {
  const Floats<lanes> size = magnitudes(a), divisor = magnitudes(b);
  const Floats<lanes> infinity = all_lanes<lanes>(bits_float(0x7f800000u));
  const Floats<lanes> ratio = quotient(size, divisor);
  const Lanes<lanes> is_known =
      below(choose(below(divisor, infinity), ratio, infinity), all_lanes<lanes>(8388608.0f));
  const Floats<lanes> known = choose(is_known, ratio, all_lanes<lanes>(0.0f));
  const Floats<lanes> left = fused(negated(to_floats(to_ints(known))), divisor, size);
  const Lanes<lanes> is_below = below(left, all_lanes<lanes>(0.0f));
  const Floats<lanes> result = signed_as(choose(is_below, sum(left, divisor), left), a);
  if (!is_any(~is_known.v)) return result;
  float dividends[static_cast<size_t>(lanes)], divisors[static_cast<size_t>(lanes)];
  store(dividends, a);
  store(divisors, b);
  for (int i = 0; i < lanes; ++i) dividends[i] = remainder_f32(dividends[i], divisors[i]);
  return load<lanes>(dividends);
}
#endif

// What division leaves, with the sign of the dividend; 0 for an integer divisor 0.
struct Remainder {
#if defined(ETCH_FOUR_FLOATS)
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& a, const Floats<lanes>& b) {
    return remainders(a, b);
  }
#endif
  ETCH_INLINE float of(float a, float b) { return remainder_f32(a, b); }
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    return b == 0 || b == -1 ? 0 : a % b;
  }
};

#if defined(ETCH_FOUR_FLOATS)
template <>
struct HasVectors<Remainder> {
  enum { value = 1 };
};
#endif

// The row in vectors, the last of which may have elements that are not there.
template <class Function>
ETCH_INLINE void apply_vectors(const float* x, ptrdiff_t step, float* y, ptrdiff_t n, float alpha,
                               float beta) {
  constexpr int kLanes = kFloatLanes;
  const Floats<kLanes> a = all_lanes<kLanes>(alpha), b = all_lanes<kLanes>(beta);
  ptrdiff_t i = 0;
  if (step == 1) {
    if constexpr (kLanes == 16) {
      // Two at once, in 32 registers: the steps of one function wait for each other.
      for (; n - i >= 2 * kLanes; i += 2 * kLanes) {
        const Floats<kLanes> first = Function::of(load<kLanes>(x + i), a, b);
        const Floats<kLanes> second = Function::of(load<kLanes>(x + i + kLanes), a, b);
        store(y + i, first);
        store(y + i + kLanes, second);
      }
    }
    for (; n - i >= kLanes; i += kLanes) store(y + i, Function::of(load<kLanes>(x + i), a, b));
  }
  for (; i < n; i += kLanes) {
    const ptrdiff_t left = n - i < kLanes ? n - i : kLanes;
    store_some(y + i, Function::of(load_some<kLanes>(x + i * step, step, left), a, b), left);
  }
}

// y[i] = Function(x[i * step], alpha, beta)
template <class Function>
static inline void apply(const float* x, ptrdiff_t step, float* y, ptrdiff_t n, float alpha,
                         float beta) {
  if constexpr (HasVectors<Function>::value != 0 && kFloatLanes > 1) {
    apply_vectors<Function>(x, step, y, n, alpha, beta);
  } else {
    ptrdiff_t i = 0;
#if defined(ETCH_CHECKED_FLOATS)
    if constexpr (HasCheckedVectors<Function>::value != 0) {
      constexpr int kLanes = kCheckedLanes;
      const auto vectors = [=](ptrdiff_t k) {
        return Function::of(load<kLanes>(x + k), all_lanes<kLanes>(alpha), all_lanes<kLanes>(beta));
      };
      if (step == 1)
        i = map_checked(n, y, vectors,
                        [=](ptrdiff_t k) { return Function::of(x[k], alpha, beta); });
    }
#endif
    for (; i < n; ++i) y[i] = Function::of(x[i * step], alpha, beta);
  }
}

// The elements from p on, `step` apart, or always the first; n <= lanes of them are there.
template <int lanes>
ETCH_INLINE Floats<lanes> load_any(const float* p, ptrdiff_t step, ptrdiff_t n) {
  if (step == 0) return all_lanes<lanes>(*p);
  return step == 1 && n == lanes ? load<lanes>(p) : load_some<lanes>(p, step, n);
}

// y[i] = a[i * a_step] to the power b[i * b_step]
static inline void power(const float* a, ptrdiff_t a_step, const float* b, ptrdiff_t b_step,
                         float* y, ptrdiff_t n) {
  if constexpr (kFloatLanes > 1) {
    constexpr int kLanes = kFloatLanes;
    for (ptrdiff_t i = 0; i < n; i += kLanes) {
      const ptrdiff_t left = n - i < kLanes ? n - i : kLanes;
      store_some(y + i,
                 powers(load_any<kLanes>(a + i * a_step, a_step, left),
                        load_any<kLanes>(b + i * b_step, b_step, left)),
                 left);
    }
  } else {
    for (ptrdiff_t i = 0; i < n; ++i) y[i] = pow_f32(a[i * a_step], b[i * b_step]);
  }
}

}  // namespace rt
}  // namespace etch
