// Float arithmetic for generated code: fused multiply-add, rounding, 8-bit quantization, exp.
//
// Every result is the same on every target and with every optimisation level, with or without FMA
// instructions and whatever -ffp-contract says. Two rules make that true. Rounding and scaling by
// powers of two are done on the bits, so no float add follows a float multiply; and a product that
// a caller might add to passes through opaque(). Flags that break IEEE arithmetic itself are
// refused below. Functions are static, so that files compiled for different instruction sets can be
// linked together. Arithmetic: docs/spec/numbers.md, docs/spec/quantization.md. exp equals ONNX
// Runtime's CPU kernel on x64 with AVX512F bit for bit.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "etch: exact float arithmetic is impossible with -ffast-math or a part of it"
#endif
// clang has no macros for -funsafe-math-optimizations and its parts: they are switched off from
// here on. Where the first pragma is not known (Arm before clang 16, WebAssembly), the others do
// what they can.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wignored-pragmas"
#pragma float_control(precise, on)
#pragma clang diagnostic pop
#pragma clang fp reassociate(off)
#if __clang_major__ >= 18
#pragma clang fp reciprocal(off)
#endif
#endif
#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ == 1 || __FLT_EVAL_METHOD__ == 2)
#error "etch: float expressions must be evaluated in float (on 32-bit x86 use -msse2 -mfpmath=sse)"
#endif

// Also for the member functions of types: left to the compiler, they would be functions of which a
// linker keeps one for all files, whatever instruction set that file is compiled for.
#ifndef ETCH_INLINE
#if defined(__GNUC__)
#define ETCH_INLINE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define ETCH_INLINE static __forceinline
#else
#define ETCH_INLINE static inline
#endif
#endif

// With -ffreestanding the plain name means a call, even for 4 bytes.
#ifndef ETCH_MEMCPY
#if defined(__GNUC__)
#define ETCH_MEMCPY __builtin_memcpy
#else
#define ETCH_MEMCPY memcpy
#endif
#endif

namespace etch {
namespace rt {

static inline uint32_t float_bits(float value) {
  uint32_t bits;
  ETCH_MEMCPY(&bits, &value, sizeof bits);
  return bits;
}

static inline float bits_float(uint32_t bits) {
  float value;
  ETCH_MEMCPY(&value, &bits, sizeof value);
  return value;
}

static inline bool is_nan(float value) { return (float_bits(value) & 0x7fffffffu) > 0x7f800000u; }

// The same value, of unknown origin to the compiler: a product that went through here cannot be
// fused with a later addition.
static inline float opaque(float value) {
#if defined(__GNUC__) && defined(__SSE2__)
  __asm__("" : "+x"(value));
  return value;
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__("" : "+w"(value));
  return value;
#elif defined(__GNUC__) && defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 4)
  __asm__("" : "+t"(value));
  return value;
#elif defined(__GNUC__) && defined(__riscv_flen)
  __asm__("" : "+f"(value));
  return value;
#elif defined(__GNUC__) && (defined(__arm__) || defined(__riscv) || defined(__wasm__))
  __asm__("" : "+r"(value));
  return value;
#elif defined(__GNUC__)
  __asm__("" : "+m"(value));
  return value;
#else
  volatile float hidden = value;
  return hidden;
#endif
}

// significand / 2^shift, rounded to nearest, ties to even. significand < 2^24; shift in [1, 31].
static inline uint32_t shift_right_even(uint32_t significand, uint32_t shift) {
  const uint32_t odd = (significand >> shift) & 1u;
  return (significand + (1u << (shift - 1u)) - 1u + odd) >> shift;
}

// fma_exact() in plain double arithmetic. The product of two floats is exact in double. Rounding
// the sum twice, to double and to float, is wrong only if the first result is halfway between two
// floats: of normal ones it then ends in a one and 28 zeros. There, and for all subnormal floats,
// the sum is rounded to odd: when it is inexact, an even last bit is moved one step towards the
// lost part. Odd stands for "not exact", and 53 bits are more than 24 + 2, so the final rounding to
// float (or to a shorter subnormal) sees the right side of every tie. Contraction cannot change
// this code: fusing an exact product changes nothing.
static inline float fma_software(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  uint64_t bits;
  ETCH_MEMCPY(&bits, &sum, sizeof bits);
  const uint32_t exponent = static_cast<uint32_t>(bits >> 52) & 0x7ffu;
  const bool is_halfway = (static_cast<uint32_t>(bits) & 0x1fffffffu) == 0x10000000u;
  if (exponent >= 897u && !is_halfway) return static_cast<float>(sum);  // from 2^-126 on
  const double addend_part = sum - product;
  const double lost = (product - (sum - addend_part)) + (addend - addend_part);
  const bool inexact = lost > 0.0 || lost < 0.0;  // false for the NaN that infinite operands give
  if (inexact && (bits & 1u) == 0u) {
    const bool away_from_zero = (lost > 0.0) == (sum > 0.0);
    bits = away_from_zero ? bits + 1u : bits - 1u;
  }
  double odd_sum;
  ETCH_MEMCPY(&odd_sum, &bits, sizeof odd_sum);
  return static_cast<float>(odd_sum);
}

// value / 2^shift, towards zero; the lowest bit also stands for what is lost. value < 2^62.
static inline uint64_t shift_right_jam(uint64_t value, uint32_t shift) {
  if (shift >= 62u) return 1u;
  const uint64_t kept = value >> shift;
  return kept | ((kept << shift) != value ? 1u : 0u);
}

// fma_exact() in integers, for cores without an FPU, where each step in double is a call. Product
// and addend are numbers of 62 bits, the smaller one shifted; special and subnormal operands and
// results go the other way.
static inline float fma_integers(float a, float b, float c) {
  const uint32_t a_bits = float_bits(a), b_bits = float_bits(b), c_bits = float_bits(c);
  const uint32_t a_exponent = (a_bits >> 23) & 0xffu, b_exponent = (b_bits >> 23) & 0xffu;
  const uint32_t c_exponent = (c_bits >> 23) & 0xffu;
  if (a_exponent - 1u >= 254u || b_exponent - 1u >= 254u || c_exponent - 1u >= 254u)
    return fma_software(a, b, c);
  const uint64_t significands =
      uint64_t{(a_bits & 0x7fffffu) | 0x800000u} * ((b_bits & 0x7fffffu) | 0x800000u);
  uint64_t product = significands << 14;                               // times 2^(exponent - 314)
  uint64_t addend = uint64_t{(c_bits & 0x7fffffu) | 0x800000u} << 37;  // times 2^(exponent - 187)
  const auto product_exponent = static_cast<int32_t>(a_exponent + b_exponent) - 314;
  const int32_t addend_exponent = static_cast<int32_t>(c_exponent) - 187;
  const int32_t distance = product_exponent - addend_exponent;
  if (distance >= 0) {
    addend = shift_right_jam(addend, static_cast<uint32_t>(distance));
  } else {
    product = shift_right_jam(product, static_cast<uint32_t>(-distance));
  }
  uint32_t sign = (a_bits ^ b_bits) & 0x80000000u;
  uint64_t sum = product + addend;
  if (sign != (c_bits & 0x80000000u)) {
    if (product == addend) return 0.0f;
    sum = product > addend ? product - addend : addend - product;
    if (product < addend) sign ^= 0x80000000u;
  }
  int32_t exponent = (distance >= 0 ? product_exponent : addend_exponent) + 190;
  for (; (sum >> 63) == 0u; sum <<= 1) --exponent;
  if (exponent < 1 || exponent > 254) return fma_software(a, b, c);
  const auto high = static_cast<uint32_t>(sum >> 32);
  const uint32_t rest = (high & 0xffu) | (static_cast<uint32_t>(sum) != 0u ? 1u : 0u);
  const uint32_t significand = high >> 8;
  const uint32_t up = (rest + 0x7fu + (significand & 1u)) >> 8;
  return bits_float(sign + (static_cast<uint32_t>(exponent - 1) << 23) + significand + up);
}

// Whether fma_exact() is one instruction.
#if defined(__clang__)
#if defined(__FMA__) || defined(__aarch64__) || defined(__riscv_flen) || \
    (defined(__ARM_FEATURE_FMA) && defined(__ARM_FP))
#define ETCH_FMA_INSTRUCTION
#endif
#elif defined(__GNUC__) && defined(__FP_FAST_FMAF)
#define ETCH_FMA_INSTRUCTION
#endif

// a * b + c with one rounding to nearest even, subnormal results included; IEEE rules for
// infinities and NaN. One instruction where the target has it. gcc's builtin becomes that
// instruction; clang's becomes a call of libm's fmaf on targets without an operating system, hence
// the assembly.
static inline float fma_exact(float a, float b, float c) {
#if defined(__clang__) && defined(__FMA__)
  __asm__("vfmadd231ss {%2, %1, %0|%0, %1, %2}" : "+x"(c) : "x"(a), "x"(b));
  return c;
#elif defined(__clang__) && defined(__aarch64__)
  float result;
  __asm__("fmadd %s0, %s1, %s2, %s3" : "=w"(result) : "w"(a), "w"(b), "w"(c));
  return result;
#elif defined(__clang__) && defined(__ARM_FEATURE_FMA) && defined(__ARM_FP)
  __asm__("vfma.f32 %0, %1, %2" : "+t"(c) : "t"(a), "t"(b));
  return c;
#elif defined(__GNUC__) && !defined(__clang__) && defined(__FP_FAST_FMAF)
  return __builtin_fmaf(a, b, c);
#elif defined(__clang__) && defined(__riscv_flen)
  float result;
  __asm__("fmadd.s %0, %1, %2, %3" : "=f"(result) : "f"(a), "f"(b), "f"(c));
  return result;
#elif defined(__GNUC__) && \
    ((defined(__arm__) && !defined(__ARM_FP)) || (defined(__riscv) && !defined(__riscv_flen)))
  return fma_integers(a, b, c);
#else
  return fma_software(a, b, c);
#endif
}

// (c[0] x + c[1]) x + ... up to c[last], in fused steps. Where these are instructions, none is in a
// loop, so that coefficients are not copied to the stack; elsewhere there is one copy of their
// code.
#if defined(__GNUC__) && \
    (defined(__FP_FAST_FMAF) || (defined(__ARM_FEATURE_FMA) && defined(__ARM_FP)))
template <size_t last, size_t N>
ETCH_INLINE float fused_powers_to(const float (&c)[N], float x) {
  if constexpr (last == 0) {
    return c[0];
  } else {
    return fma_exact(fused_powers_to<last - 1>(c, x), x, c[last]);
  }
}
template <size_t N>
ETCH_INLINE float fused_powers(const float (&c)[N], float x) {
  return fused_powers_to<N - 1>(c, x);
}
#else
template <size_t N>
static inline float fused_powers(const float (&c)[N], float x) {
  float sum = c[0];
  for (size_t i = 1; i < N; ++i) sum = fma_exact(sum, x, c[i]);
  return sum;
}
#endif

// Nearest integer, ties to even. |value| < 2^23; other values give a meaningless, but defined,
// result.
static inline int32_t round_even(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t exponent = (bits >> 23) & 0xffu;
  const uint32_t significand = (bits & 0x7fffffu) | 0x800000u;
  // value = significand * 2^(exponent - 150). Below 1/2, exponent < 126, any shift of 25 or more
  // gives 0.
  const uint32_t wanted = 150u - (exponent < 149u ? exponent : 149u);
  const uint32_t shift = wanted < 25u ? wanted : 25u;
  const int32_t magnitude = static_cast<int32_t>(shift_right_even(significand, shift));
  return (bits >> 31) != 0u ? -magnitude : magnitude;
}

// Nearest integer, ties away from zero. |value| < 2^31; other values give a meaningless, but
// defined, result.
static inline int32_t round_away(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t exponent = (bits >> 23) & 0xffu;
  if (exponent < 126u) return 0;  // below 1/2
  const uint32_t significand = (bits & 0x7fffffu) | 0x800000u;
  uint32_t magnitude = significand << ((exponent - 150u) & 31u);  // integers, from 2^23 on
  if (exponent < 150u) {
    const uint32_t shift = 150u - exponent;
    magnitude = (significand + (1u << (shift - 1u))) >> shift;
  }
  return static_cast<int32_t>((bits >> 31) != 0u ? 0u - magnitude : magnitude);
}

// Nearest integer, ties to even, of any float. Saturates to the range of int32; NaN gives 0.
static inline int32_t rne(float value) {
  if (is_nan(value)) return 0;
  if (value >= 2147483648.0f) return INT32_MAX;
  if (value <= -2147483648.0f) return INT32_MIN;
  const bool has_fraction = value < 8388608.0f && value > -8388608.0f;
  return has_fraction ? round_even(value) : static_cast<int32_t>(value);
}

// Clamps in float to [low - zero_point, high - zero_point], rounds, then adds zero_point. NaN gives
// `low`. Requires low <= zero_point <= high, |low| and |high| < 2^20.
static inline int32_t clamp_round_offset(float value, int32_t zero_point, int32_t low,
                                         int32_t high) {
  const float lower = static_cast<float>(low - zero_point);
  const float upper = static_cast<float>(high - zero_point);
  const float above = value > lower ? value : lower;  // in this operand order NaN becomes `lower`
  const float inside = above < upper ? above : upper;
  return round_even(inside) + zero_point;
}

// QuantizeLinear of one value (docs/spec/quantization.md section 2.3): true division by `scale`,
// zero_point in the output's range.
static inline uint8_t quantize_u8(float x, float scale, int32_t zero_point) {
  return static_cast<uint8_t>(clamp_round_offset(x / scale, zero_point, 0, 255));
}

static inline int8_t quantize_s8(float x, float scale, int32_t zero_point) {
  return static_cast<int8_t>(clamp_round_offset(x / scale, zero_point, -128, 127));
}

// DequantizeLinear of one value (docs/spec/quantization.md section 2.4). `quantized` and zero_point
// are both uint8 or both int8 values, or `quantized` is an int32 bias and zero_point 0.
static inline float dequantize(int32_t quantized, float scale, int32_t zero_point) {
  return opaque(static_cast<float>(quantized - zero_point) * scale);
}

// An int32 accumulator to 8 bits (docs/spec/requantization.md section 3.1): `scale` is the combined
// scale of inputs and output.
static inline uint8_t requantize_u8(int32_t accumulator, float scale, int32_t zero_point) {
  return static_cast<uint8_t>(
      clamp_round_offset(static_cast<float>(accumulator) * scale, zero_point, 0, 255));
}

static inline int8_t requantize_s8(int32_t accumulator, float scale, int32_t zero_point) {
  return static_cast<int8_t>(
      clamp_round_offset(static_cast<float>(accumulator) * scale, zero_point, -128, 127));
}

// value * 2^power with one rounding. value is a normal float in [1/2, 2); power in [-150, 128].
static inline float scale_by_power_of_two(float value, int32_t power) {
  const uint32_t bits = float_bits(value);
  const int32_t exponent = static_cast<int32_t>(bits >> 23) + power;
  if (exponent >= 255) return bits_float(0x7f800000u);
  const uint32_t fraction = bits & 0x7fffffu;
  if (exponent >= 1) return bits_float((static_cast<uint32_t>(exponent) << 23) | fraction);
  return bits_float(shift_right_even(fraction | 0x800000u, static_cast<uint32_t>(1 - exponent)));
}

// e^x as ONNX Runtime's Exp gives it with AVX512F (vector and tail alike). Below -103.972 the
// result is 0, from 88.723 on infinity, NaN stays NaN.
//   m = nearest integer to x / ln 2;  r = x - m ln 2 in two fused steps;  e^r by a polynomial of
//   degree 6; then one scaling by 2^m. All steps are fused, so every target needs the same fma.
static inline float exp_f32(float x) {
  constexpr float kLowest = -103.9720840454f;  // e^kLowest rounds to 0
  constexpr float kHighest = 89.0f;            // e^kHighest is far above the largest float
  constexpr float kRoundingBias =
      12582912.0f;  // 1.5 * 2^23: the last bit of a sum with it has weight 1
  constexpr float kLog2OfE = 1.44269504088896341f;
  constexpr float kMinusLn2High = -6.93145752e-1f;
  constexpr float kMinusLn2Low = -1.42860677e-6f;
  static constexpr float kPolynomial[7] = {
      0x1.694000p-10f, 0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.555450p-3f, 0x1.fffff6p-2f, 1.0f, 1.0f};
  if (is_nan(x)) return x;
  const float above = kLowest > x ? kLowest : x;
  const float inside = above < kHighest ? above : kHighest;
  const uint32_t biased = float_bits(fma_exact(inside, kLog2OfE, kRoundingBias));
  const int32_t power = static_cast<int32_t>(biased - float_bits(kRoundingBias));
  const float whole = static_cast<float>(power);
  const float rest = fma_exact(whole, kMinusLn2Low, fma_exact(whole, kMinusLn2High, inside));
  return scale_by_power_of_two(fused_powers(kPolynomial, rest), power);
}

}  // namespace rt
}  // namespace etch
