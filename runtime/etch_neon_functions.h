// Exponential, Tanh and Sigmoid of four floats by NEON of 32-bit Arm without VFPv4: the steps of
// etch_function_lanes.h, in the same order, as etch_neon_steps.h composes them. They take the place
// of the templates there. C++17, freestanding, no heap, no state besides FPSCR.
#pragma once

#include <stdint.h>

#include "etch_neon_steps.h"
#include "etch_transcendental.h"
#include "etch_vector.h"

#if defined(ETCH_COMPOSED_STEPS)
namespace etch {
namespace rt {

// ---- exponential ----

struct ExponentialTerms {
  static constexpr float kTerms[7] = {
      0x1.694000p-10f, 0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.555450p-3f, 0x1.fffff6p-2f, 1.0f, 1.0f};
  static constexpr StepRange kRange{-0.34658, 0.34658};
};

// What exponentials() takes one by one: limits, log2 e, the bias, minus ln 2 in three parts of at
// most 16 bits, factors a little above and below 1.
static constexpr float kMinusLn2Middle = -0x1.7f7p-20f;
static constexpr float kExponentialSteps[9] = {-86.5f,
                                               88.0f,
                                               1.44269504088896341f,
                                               12582912.0f,
                                               -6.93145752e-1f,
                                               kMinusLn2Middle,
                                               -1.42860677e-6f - kMinusLn2Middle,
                                               1.0f + 0x1p-22f,
                                               1.0f - 0x1p-22f};

// Of x = whole * ln 2 + rest the rest, in two fused steps: the first product is exact, as the high
// part of ln 2 has 16 bits. The second is the sum of two exact ones.
ETCH_INLINE Floats<4> rest_of_exponent(const Floats<4>& x, const Floats<4>& whole,
                                       const float*& next) {
  const Floats<4> high = sum_with_product(x, whole, next_term(next));
  const Floats<4> middle = product(whole, next_term(next));
  // Bits of `high` are not below those of `middle`, so what the sum loses is exact.
  const Floats<4> near = sum(high, middle);
  const Floats<4> lost = difference(middle, difference(near, high));
  const Floats<4> rest = sum_with_product(lost, whole, next_term(next));
  // The result is certain if it is the same a little above and below.
  const Floats<4> above = sum_with_product(near, rest, next_term(next));
  const Floats<4> under = sum_with_product(near, rest, next_term(next));
  expect_below(words_of(above) ^ words_of(under), 1u);
  return above;
}

// exp_f32(). Computed within limits between which results are normal; below the other limit they
// are 0.
ETCH_INLINE Floats<4> exponentials(const Floats<4>& x) {
  const float* next = kExponentialSteps;
  const Floats<4> above = larger_or_nan(x, next_term(next));
  const Floats<4> inside = smaller_or_nan(above, next_term(next));
  // Rounded twice, which is another integer only where the rest is half of ln 2.
  const Floats<4> scaled = product(inside, next_term(next));
  const Floats<4> bias = next_term(next);
  const Floats<4> biased = sum(scaled, bias);
  const Floats<4> rest = rest_of_exponent(inside, difference(biased, bias), next);
  expect_below(words_of(rest) & 0x7fffffffu, 0x3eb17000u);  // 0.34656
  const Floats<4> sum_of_terms = composed_powers<ExponentialTerms>(rest);
  const Floats<4> result = of_words(words_of(sum_of_terms) + (words_of(biased) << 23));
  const NeonWords is_not_zero = words_of(below(all_lanes<4>(-103.9720840454f), x));
  expect_below(is_not_zero & ~words_of(are_equal(x, inside)), 1u);
  return of_words(words_of(result) & is_not_zero);
}

ETCH_INLINE Floats<4> exponentials_up_to_one(const Floats<4>& x) { return exponentials(x); }

// ---- hyperbolic tangent, logistic function ----

struct TanhOdd {
  static constexpr const float (&kTerms)[7] = kTanhOdd;
  static constexpr StepRange kRange{0.0, 81.0};
};
struct TanhEven {
  static constexpr const float (&kTerms)[4] = kTanhEven;
  static constexpr StepRange kRange{0.0, 81.0};
};
struct SigmoidOdd {
  static constexpr const float (&kTerms)[5] = kSigmoidOdd;
  static constexpr StepRange kRange{0.0, 324.0};
};
struct SigmoidEven {
  static constexpr const float (&kTerms)[6] = kSigmoidEven;
  static constexpr StepRange kRange{0.0, 324.0};
};

// Odd * v over Even, as fractions of v^2.
template <class Odd, class Even>
ETCH_INLINE Floats<4> odd_over_even(const Floats<4>& v) {
  const Floats<4> square = product(v, v);
  const Floats<4> odd = product(composed_powers<Odd>(square), v);
  return quotient(odd, composed_powers<Even>(square));
}

ETCH_INLINE Floats<4> within(const Floats<4>& x, float limit) {
  return smaller_or_nan(all_lanes<4>(limit), larger_or_nan(x, all_lanes<4>(-limit)));
}

// tanh_f32()
ETCH_INLINE Floats<4> hyperbolic_tangents(const Floats<4>& x) {
  return odd_over_even<TanhOdd, TanhEven>(within(x, 9.0f));
}

// sigmoid_f32()
ETCH_INLINE Floats<4> sigmoids(const Floats<4>& x) {
  const Floats<4> part = odd_over_even<SigmoidOdd, SigmoidEven>(within(x, 18.0f));
  const Floats<4> y = sum(part, all_lanes<4>(0.5f));
  return smaller_or_nan(all_lanes<4>(1.0f), larger_or_nan(all_lanes<4>(0.0f), y));
}

}  // namespace rt
}  // namespace etch
#endif
