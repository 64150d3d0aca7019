// Functions of one float: exponentials, logarithms, error function, powers, roots, activations.
// C++17, freestanding, no heap, no state, no libm. The same bits on every target, by the rules of
// etch_float.h; within 2e-6 of the truth, absolute or relative, whichever is larger. alpha and beta
// are what some of them need besides x.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_elementwise.h"
#include "etch_float.h"

namespace etch {
namespace rt {

static inline float with_sign_of(float magnitude, float sign) {
  return bits_float((float_bits(magnitude) & 0x7fffffffu) | (float_bits(sign) & 0x80000000u));
}

static inline float magnitude_of(float x) { return bits_float(float_bits(x) & 0x7fffffffu); }

// As opaque(), for a double.
static inline double opaque_double(double value) {
#if defined(__GNUC__) && defined(__SSE2__)
  __asm__("" : "+x"(value));
  return value;
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__("" : "+w"(value));
  return value;
#elif defined(__GNUC__)
  __asm__("" : "+m"(value));
  return value;
#else
  volatile double hidden = value;
  return hidden;
#endif
}

// coefficients[0] + coefficients[1] x + ..., each step with one rounding.
template <size_t N>
static inline float polynomial(const float (&coefficients)[N], float x) {
  float sum = coefficients[N - 1];
  for (size_t i = N - 1; i-- > 0;) sum = fma_exact(sum, x, coefficients[i]);
  return sum;
}

// ---- parts and roots ----

// The largest integer that is not above x. What has no fraction, infinities and NaN stay.
static inline float floor_f32(float x) {
  if (!(x < 8388608.0f && x > -8388608.0f)) return x;
  const float whole = static_cast<float>(static_cast<int32_t>(x));
  return with_sign_of(whole > x ? whole - 1.0f : whole, x);
}

static inline float ceil_f32(float x) {
  const float y = floor_f32(bits_float(float_bits(x) ^ 0x80000000u));
  return bits_float(float_bits(y) ^ 0x80000000u);
}

// The square root in integers, correctly rounded. x > 0 and finite. With x = s * 2^e, e odd and s
// in [2^23, 2^25), the root of s * 2^25 has 25 bits; it is never halfway between two floats.
static inline float sqrt_software(float x) {
  const uint32_t bits = float_bits(x);
  uint32_t s = bits & 0x7fffffu;
  int32_t e = static_cast<int32_t>(bits >> 23) - 150;
  if (e == -150) {
    e = -149;
    for (; s < 0x800000u; s <<= 1) --e;
  }
  s |= 0x800000u;
  if ((e & 1) == 0) {
    s <<= 1;
    --e;
  }
  uint64_t rest = static_cast<uint64_t>(s) << 25;
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 48; bit != 0; bit >>= 2) {
    const bool fits = rest >= root + bit;
    rest -= fits ? root + bit : 0u;
    root = (root >> 1) + (fits ? bit : 0u);
  }
  const float rounded = static_cast<float>(static_cast<uint32_t>((root + 1u) >> 1));  // exact
  // rounded * 2^((e - 23) / 2); e is at least -173, so the factor is a normal float.
  const uint32_t power = static_cast<uint32_t>((e - 23) / 2 + 127);
  return rounded * bits_float(power << 23);
}

static inline float sqrt_f32(float x) {
  if (x < 0.0f) return bits_float(0x7fc00000u);  // instructions differ in the sign of this NaN
#if defined(__GNUC__) && defined(__AVX__)
  float y;
  __asm__("vsqrtss {%1, %1, %0|%0, %1, %1}" : "=x"(y) : "x"(x));
  return y;
#elif defined(__GNUC__) && defined(__SSE2__)
  float y;
  __asm__("sqrtss {%1, %0|%0, %1}" : "=x"(y) : "x"(x));
  return y;
#elif defined(__GNUC__) && defined(__aarch64__)
  float y;
  __asm__("fsqrt %s0, %s1" : "=w"(y) : "w"(x));
  return y;
#else
  const uint32_t bits = float_bits(x);
  if ((bits & 0x7fffffffu) == 0u || is_nan(x) || bits == 0x7f800000u) return x;
  return sqrt_software(x);
#endif
}

// ---- logarithm and power ----

// The natural logarithm: x = m * 2^e with m in [1/sqrt 2, sqrt 2); with f = m - 1
// ln m = f - f^2 / 2 + f^3 P(f).
static inline float log_f32(float x) {
  constexpr float kPolynomial[9] = {0x1.555546p-2f,  -0x1.ffffeep-3f, 0x1.99a4dap-3f,
                                    -0x1.5562b4p-3f, 0x1.2339dcp-3f,  -0x1.fb4ff8p-4f,
                                    0x1.e5ff0ap-4f,  -0x1.e28964p-4f, 0x1.1b7bf4p-4f};
  constexpr float kLn2High = 0x1.62e4p-1f;
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  if (is_nan(x) || float_bits(x) == 0x7f800000u) return x;
  if (x <= 0.0f) return bits_float(x < 0.0f ? 0x7fc00000u : 0xff800000u);
  const bool subnormal = float_bits(x) < 0x800000u;
  const uint32_t bits = float_bits(subnormal ? x * 8388608.0f : x);
  // Counted from 1/sqrt 2, so that the fraction is at most sqrt 2 afterwards.
  const uint32_t above = bits - 0x3f3504f3u;
  const int32_t exponent = static_cast<int32_t>(above) >> 23;
  const float f = bits_float((above & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float e = static_cast<float>(exponent - (subnormal ? 23 : 0));
  const float square = opaque(f * f);
  const float cube = opaque(f * square);
  float y = opaque(cube * polynomial(kPolynomial, f));
  y = fma_exact(-0.5f, square, y);
  y = fma_exact(e, kLn2Low, y);
  return fma_exact(e, kLn2High, f + y);
}

// log2 of a positive normal double: m in [1/sqrt 2, sqrt 2), ln m = 2 atanh((m - 1) / (m + 1)).
static inline double log2_double(double x) {
  uint64_t bits;
  ETCH_MEMCPY(&bits, &x, sizeof bits);
  int32_t exponent = static_cast<int32_t>(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
  double m;
  ETCH_MEMCPY(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double square = opaque_double(s * s);
  double sum = 1.0 / 21.0;
  for (int32_t k = 19; k >= 1; k -= 2)
    sum = opaque_double(sum * square) + 1.0 / static_cast<double>(k);
  return static_cast<double>(exponent) + opaque_double(sum * opaque_double(s * 2.8853900817779268));
}

// 2^x as a float, x in [-160, 160].
static inline float exp2_rounded(double x) {
  const int32_t power = static_cast<int32_t>(x < 0.0 ? x - 0.5 : x + 0.5);
  const double r = opaque_double((x - static_cast<double>(power)) * 0.69314718055994531);
  double sum = 1.0;
  for (int32_t k = 12; k >= 1; --k) sum = opaque_double(sum * (r / static_cast<double>(k))) + 1.0;
  const uint64_t bits = static_cast<uint64_t>(power + 1023) << 52;
  double scale;
  ETCH_MEMCPY(&scale, &bits, sizeof scale);
  return static_cast<float>(sum * scale);
}

// a^b for all a and b, in the cases that IEEE 754 lists as pow().
static inline float pow_f32(float a, float b) {
  constexpr uint32_t kInfinity = 0x7f800000u;
  if (float_bits(a) == 0x3f800000u || (float_bits(b) << 1) == 0u) return 1.0f;
  if (is_nan(a) || is_nan(b)) return bits_float(0x7fc00000u);
  const float size = magnitude_of(a);
  const bool huge = magnitude_of(b) >= 16777216.0f;  // even, or infinite
  const bool whole = huge || static_cast<float>(static_cast<int32_t>(b)) == b;
  const bool odd = !huge && whole && (static_cast<int32_t>(b) & 1) != 0;
  const bool negative = (float_bits(a) >> 31) != 0u;
  const float sign = negative && odd ? -1.0f : 1.0f;
  const uint32_t a_bits = float_bits(size);
  if (a_bits == 0u || a_bits == kInfinity) {
    const bool grows = (a_bits == 0u) == (b < 0.0f);
    return with_sign_of(bits_float(grows ? kInfinity : 0u), sign);
  }
  if (float_bits(magnitude_of(b)) == kInfinity) {
    if (a_bits == 0x3f800000u) return 1.0f;
    return bits_float((size > 1.0f) == (b > 0.0f) ? kInfinity : 0u);
  }
  if (negative && !whole) return bits_float(0x7fc00000u);
  const double power = static_cast<double>(b) * log2_double(static_cast<double>(size));
  if (power > 160.0) return with_sign_of(bits_float(kInfinity), sign);
  if (power < -160.0) return with_sign_of(0.0f, sign);
  return with_sign_of(exp2_rounded(power), sign);
}

// ---- error function and hyperbolic tangent ----

// Up to 0.92 x + x P(x^2); up to 3.92 1 - e^-G(|x|) with a polynomial G; then 1.
static inline float erf_f32(float x) {
  constexpr float kSmall[6] = {0x1.06eba6p-3f,  -0x1.8126eep-2f, 0x1.ce1b94p-4f,
                               -0x1.b69a7ep-6f, 0x1.478c8cp-8f,  -0x1.3b466ep-11f};
  constexpr float kLarge[9] = {-0x1.03391cp-12f, 0x1.21410cp+0f,  0x1.43d47ep-1f,
                               0x1.bff938p-4f,   -0x1.a92f04p-6f, 0x1.2b4660p-8f,
                               -0x1.1faae8p-11f, 0x1.4a8122p-15f, -0x1.4e573ap-20f};
  const float size = magnitude_of(x);
  if (size < 0.921875f) return fma_exact(x, polynomial(kSmall, opaque(x * x)), x);
  if (is_nan(x)) return x;
  if (size >= 3.925f) return with_sign_of(1.0f, x);
  const float rest = exp_f32(bits_float(float_bits(polynomial(kLarge, size)) ^ 0x80000000u));
  return with_sign_of(1.0f - rest, x);
}

// As ONNX Runtime has it on x64 with FMA: x limited to [-9, 9], an odd polynomial over an even one.
static inline float tanh_f32(float x) {
  constexpr float kOdd[7] = {4.89352455891786e-03f, 6.37261928875436e-04f,  1.48572235717979e-05f,
                             5.12229709037114e-08f, -8.60467152213735e-11f, 2.00018790482477e-13f,
                             -2.76076847742355e-16f};
  constexpr float kEven[4] = {4.89352518554385e-03f, 2.26843463243900e-03f, 1.18534705686654e-04f,
                              1.19825839466702e-06f};
  const float above = x < -9.0f ? -9.0f : x;
  const float v = above > 9.0f ? 9.0f : above;
  const float square = opaque(v * v);
  return opaque(polynomial(kOdd, square) * v) / polynomial(kEven, square);
}

// ---- the operators ----

#define ETCH_FLOAT_FUNCTION(Name, expression)                \
  struct Name {                                              \
    ETCH_INLINE float of(float x, float alpha, float beta) { \
      static_cast<void>(alpha);                              \
      static_cast<void>(beta);                               \
      return expression;                                     \
    }                                                        \
  };

static inline float limited_line(float x, float alpha, float beta) {
  return AtMost::of(AtLeast::of(opaque(alpha * x) + beta, 0.0f), 1.0f);
}

// ln(1 + e^x), from below by at most 6e-8 for small results.
static inline float softplus_f32(float x) {
  const float rest = log_f32(exp_f32(bits_float(float_bits(x) | 0x80000000u)) + 1.0f);
  return (x > 0.0f ? x : 0.0f) + rest;
}

static inline float gelu_f32(float x) {
  const float half = 0.5f * x;
  return opaque(half * (erf_f32(opaque(x * 0.70710678f)) + 1.0f));
}

static inline float gelu_tanh_f32(float x) {
  const float slope = opaque(opaque(opaque(x * x) * 0.035677408136f) + 0.7978845608f);
  return opaque(0.5f * x) * (tanh_f32(opaque(x * slope)) + 1.0f);
}

static inline float exp_less_one(float x) { return exp_f32(x) - 1.0f; }

ETCH_FLOAT_FUNCTION(Abs, magnitude_of(x))
ETCH_FLOAT_FUNCTION(Ceil, ceil_f32(x))
ETCH_FLOAT_FUNCTION(Celu, x > 0.0f ? x : opaque(alpha * exp_less_one(x / alpha)))
ETCH_FLOAT_FUNCTION(Cube, opaque(opaque(x* x) * x))
ETCH_FLOAT_FUNCTION(Elu, x >= 0.0f ? x : opaque(alpha * exp_less_one(x)))
ETCH_FLOAT_FUNCTION(Erf, erf_f32(x))
ETCH_FLOAT_FUNCTION(Exp, exp_f32(x))
ETCH_FLOAT_FUNCTION(Floor, floor_f32(x))
ETCH_FLOAT_FUNCTION(Gelu, gelu_f32(x))
ETCH_FLOAT_FUNCTION(GeluTanh, gelu_tanh_f32(x))
ETCH_FLOAT_FUNCTION(HardSigmoid, limited_line(x, alpha, beta))
ETCH_FLOAT_FUNCTION(HardSwish, opaque(x* limited_line(x, alpha, beta)))
ETCH_FLOAT_FUNCTION(Log, log_f32(x))
ETCH_FLOAT_FUNCTION(Mish, opaque(x* tanh_f32(softplus_f32(x))))
ETCH_FLOAT_FUNCTION(Neg, bits_float(float_bits(x) ^ 0x80000000u))
ETCH_FLOAT_FUNCTION(Pow, pow_f32(x, alpha))
ETCH_FLOAT_FUNCTION(QuickGelu, opaque(x* sigmoid_f32(opaque(alpha* x))))
ETCH_FLOAT_FUNCTION(Reciprocal, 1.0f / x)
ETCH_FLOAT_FUNCTION(Selu, opaque(beta*(x > 0.0f ? x : opaque(alpha * exp_less_one(x)))))
ETCH_FLOAT_FUNCTION(Sign, is_nan(x) ? x : (x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : 0.0f)))
ETCH_FLOAT_FUNCTION(Softplus, softplus_f32(x))
ETCH_FLOAT_FUNCTION(Softsign, opaque((1.0f / (1.0f + magnitude_of(x))) * x))
ETCH_FLOAT_FUNCTION(Sqrt, sqrt_f32(x))
ETCH_FLOAT_FUNCTION(Square, opaque(x* x))
ETCH_FLOAT_FUNCTION(Tanh, tanh_f32(x))
ETCH_FLOAT_FUNCTION(ThresholdedRelu, x > alpha ? x : 0.0f)

#undef ETCH_FLOAT_FUNCTION

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

// What division leaves, with the sign of the dividend; 0 for an integer divisor 0.
struct Remainder {
  ETCH_INLINE float of(float a, float b) { return remainder_f32(a, b); }
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    return b == 0 || b == -1 ? 0 : a % b;
  }
};

// y[i] = Function(x[i * step], alpha, beta)
template <class Function>
static inline void apply(const float* x, ptrdiff_t step, float* y, ptrdiff_t n, float alpha,
                         float beta) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = Function::of(x[i * step], alpha, beta);
}

// y[i] = a[i * a_step] to the power b[i * b_step]
static inline void power(const float* a, ptrdiff_t a_step, const float* b, ptrdiff_t b_step,
                         float* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = pow_f32(a[i * a_step], b[i * b_step]);
}

}  // namespace rt
}  // namespace etch
