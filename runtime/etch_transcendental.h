// Functions of one float: exponentials, logarithms, error function, powers, roots. C++17,
// freestanding, no heap, no state, no libm. The same bits on every target, by the rules of
// etch_float.h; docs/spec/float.md has their errors. etch_function_lanes.h has the same for several
// floats at once.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_float_lanes.h"

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

// Without fused steps, see etch_float_lanes.h.
template <size_t N>
static inline float plain_polynomial(const float (&coefficients)[N], float x) {
  return plain_polynomial(coefficients, Floats<1>{x}).v;
}

// ---- parts and roots ----

// The largest integer that is not above x. What has no fraction, infinities and NaN stay.
static inline float floor_f32(float x) {
  if (!(x < 8388608.0f && x > -8388608.0f)) return x;
  const float whole = static_cast<float>(static_cast<int32_t>(x));
  return with_sign_of(whole > x ? whole - 1.0f : whole, x);
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
#elif defined(__GNUC__) && defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 4)
  float y;
  __asm__("vsqrt.f32 %0, %1" : "=t"(y) : "t"(x));
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
  static constexpr float kPolynomial[9] = {0x1.555546p-2f,  -0x1.ffffeep-3f, 0x1.99a4dap-3f,
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
  float y = opaque(cube * plain_polynomial(kPolynomial, f));
  y = y - opaque(0.5f * square);
  y = opaque(e * kLn2Low) + y;
  return opaque(e * kLn2High) + (f + y);  // the product is exact
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

// ---- error function, hyperbolic tangent, logistic function ----

// The polynomials of the error function: below 0.875 x + x P(x^2), above 1 - 2^-G(|x|).
struct ErfTables {
  float below[6] = {0x1.06eba6p-3f,  -0x1.8126f2p-2f, 0x1.ce1d88p-4f,
                    -0x1.b6c436p-6f, 0x1.48c424p-8f,  -0x1.41323cp-11f};
  float exponent[7] = {0x1.b4385ep-13f, 0x1.a09038p+0f, 0x1.d664cap-1f,  0x1.3405b2p-3f,
                       -0x1.08832cp-5f, 0x1.23664cp-8f, -0x1.2e6874p-12f};
  float power[6] = {0x1.000002p+0f,  -0x1.62e432p-1f, 0x1.ebf862p-3f,
                    -0x1.c6adbep-5f, 0x1.3d3780p-7f,  -0x1.5fb03cp-10f};  // 2^-x, |x| <= 1/2
};

// From 4 on the power is below half a unit of 1.
static inline float erf_f32(float x) {
  constexpr ErfTables kTables;
  constexpr float kRoundingBias = 12582912.0f;  // see exp_f32()
  const float size = magnitude_of(x);
  if (size < 0.875f) return opaque(x * plain_polynomial(kTables.below, opaque(x * x))) + x;
  if (is_nan(x)) return x;
  const float exponent = plain_polynomial(kTables.exponent, size < 4.0f ? size : 4.0f);
  const float biased = exponent + kRoundingBias;
  const float fraction = exponent - (biased - kRoundingBias);  // exact
  const uint32_t whole = float_bits(biased) - float_bits(kRoundingBias);
  const float power = bits_float((127u - whole) << 23);
  return with_sign_of(1.0f - opaque(plain_polynomial(kTables.power, fraction) * power), x);
}

// Of tanh and of 1 / (1 + e^-x) between their limits: an odd polynomial over an even one.
static constexpr float kTanhOdd[7] = {
    -2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
    1.48572235717979e-05f,  6.37261928875436e-04f, 4.89352455891786e-03f};
static constexpr float kTanhEven[4] = {1.19825839466702e-06f, 1.18534705686654e-04f,
                                       2.26843463243900e-03f, 4.89352518554385e-03f};
static constexpr float kSigmoidOdd[5] = {4.37031012579801e-11f, 1.15627324459942e-07f,
                                         6.08574864600143e-05f, 8.51377133304701e-03f,
                                         2.48287947061529e-01f};
static constexpr float kSigmoidEven[6] = {6.10247389755681e-13f, 5.76102136993427e-09f,
                                          6.29106785017040e-06f, 1.70198817374094e-03f,
                                          1.16817656904453e-01f, 9.93151921023180e-01f};

// As ONNX Runtime has it on x64 with FMA: x limited to [-9, 9].
static inline float tanh_f32(float x) {
  const float above = x < -9.0f ? -9.0f : x;
  const float v = above > 9.0f ? 9.0f : above;
  const float square = opaque(v * v);
  return opaque(fused_powers(kTanhOdd, square) * v) / fused_powers(kTanhEven, square);
}

// 1 / (1 + e^-x) as ONNX Runtime has it on x64 with FMA: x limited to [-18, 18], the quotient plus
// 1/2.
static inline float sigmoid_f32(float x) {
  const float above = x < -18.0f ? -18.0f : x;
  const float v = above > 18.0f ? 18.0f : above;
  const float square = opaque(v * v);
  const float odd = fused_powers(kSigmoidOdd, square), even = fused_powers(kSigmoidEven, square);
  const float y = opaque(opaque(odd * v) / even) + 0.5f;
  const float low = y < 0.0f ? 0.0f : y;
  return low > 1.0f ? 1.0f : low;
}

}  // namespace rt
}  // namespace etch
