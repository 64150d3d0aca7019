// Floats of 16 and 64 bits as a form in which tensors arrive and leave: conversions from and to
// float, rounding to nearest, ties to even. C++17, freestanding, no heap, no state. A step of 0
// repeats one element; steps count elements. float16 and bfloat16 are kept as their bits.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"

namespace etch {
namespace rt {

static inline float float_from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u, fraction = half & 1023u;
  // NaN without a signal, as instructions give it.
  if (exponent == 31u && fraction != 0u) return bits_float(sign | 0x7fc00000u | fraction << 13);
  if (exponent == 31u) return bits_float(sign | 0x7f800000u);
  if (exponent != 0u) return bits_float(sign | (exponent + 112u) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;  // exact
  return sign != 0u ? -small : small;
}

static inline uint16_t half_from_float(float x) {
  const uint32_t bits = float_bits(x), size = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  if (size > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (size >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65,520 and more
  if (size <= 0x33000000u) return static_cast<uint16_t>(sign);            // half of the least
  if (size < 0x38800000u) {                                               // no leading one
    const uint32_t shift = 126u - (size >> 23), whole = (size & 0x7fffffu) | 0x800000u;
    const uint32_t even = (whole >> shift) & 1u;
    return static_cast<uint16_t>(sign | (whole + (1u << (shift - 1u)) - 1u + even) >> shift);
  }
  return static_cast<uint16_t>(sign |
                               (((size + 0xfffu + ((size >> 13) & 1u)) >> 13) - (112u << 10)));
}

static inline float float_from_bfloat(uint16_t x) {
  return bits_float(static_cast<uint32_t>(x) << 16);
}

static inline uint16_t bfloat_from_float(float x) {
  const uint32_t bits = float_bits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// ---- rows ----

#if defined(__GNUC__)
template <int lanes>
struct Halves {
  typedef uint16_t Vector __attribute__((vector_size(2 * lanes)));
  Vector v;
};

// `lanes` neighbouring numbers of 16 bits, one per integer.
template <int lanes>
ETCH_INLINE Ints<lanes> load_halves(const uint16_t* p) {
  if constexpr (lanes == 1) {
    return {*p};
  } else {
    Halves<lanes> halves;
    ETCH_MEMCPY(&halves, p, sizeof halves);
    return {__builtin_convertvector(halves.v, typename Ints<lanes>::Vector)};
  }
}

template <int lanes>
ETCH_INLINE void store_halves(uint16_t* p, const Ints<lanes>& x) {
  if constexpr (lanes == 1) {
    *p = static_cast<uint16_t>(x.v);
  } else {
    const Halves<lanes> halves{__builtin_convertvector(x.v, typename Halves<lanes>::Vector)};
    ETCH_MEMCPY(p, &halves, sizeof halves);
  }
}
#endif

// float_from_half() and float_from_bfloat() of one and of neighbours.
struct WidenHalf {
  ETCH_INLINE float of(uint16_t half) { return float_from_half(half); }
#if defined(__GNUC__)
  template <int lanes>
  ETCH_INLINE Floats<lanes> load(const uint16_t* p) {
#if defined(__AVX512F__)
    if constexpr (lanes == 16) {
      __m256i halves;
      ETCH_MEMCPY(&halves, p, sizeof halves);
      return {_mm512_maskz_cvtph_ps(kAllLanes, halves)};
    }
#endif
#if defined(__F16C__)
    if constexpr (lanes == 8) {
      __m128i halves;
      ETCH_MEMCPY(&halves, p, sizeof halves);
      return {_mm256_cvtph_ps(halves)};
    }
#endif
    const auto half = load_halves<lanes>(p).v;
    const auto size = half & 0x7fff;
    const auto whole = ((size << 13) + (112 << 23) + ((size >= 0x7c00) & (112 << 23))) |
                       ((size > 0x7c00) & 0x400000);
    // What has no leading one: exact.
    const Ints<lanes> small =
        bits_of(product(to_floats(Ints<lanes>{size}), all_lanes<lanes>(0x1p-24f)));
    return from_bits(Ints<lanes>{(size < 0x400 ? small.v : whole) | (half << 16 & INT32_MIN)});
  }
#endif
};
struct WidenBfloat {
  ETCH_INLINE float of(uint16_t x) { return float_from_bfloat(x); }
#if defined(__GNUC__)
  template <int lanes>
  ETCH_INLINE Floats<lanes> load(const uint16_t* p) {
    return from_bits(Ints<lanes>{load_halves<lanes>(p).v << 16});
  }
#endif
};

// half_from_float() and bfloat_from_float() of one and of neighbours.
struct NarrowHalf {
  ETCH_INLINE uint16_t of(float x) { return half_from_float(x); }
#if defined(__GNUC__)
  template <int lanes>
  ETCH_INLINE void store(uint16_t* p, const Floats<lanes>& x) {
    const auto bits = bits_of(x).v;
    const auto size = bits & 0x7fffffff;
    const auto zero = size - size;
#if defined(__AVX512F__)
    if constexpr (lanes == 16) {  // NaN of one form
      const Ints<16> known{size > 0x7f800000 ? (bits & INT32_MIN) | (zero + 0x7fc00000) : bits};
      const __m256i halves = _mm512_maskz_cvtps_ph(kAllLanes, from_bits(known).v,
                                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      ETCH_MEMCPY(p, &halves, sizeof halves);
      return;
    }
#endif
#if defined(__F16C__)
    if constexpr (lanes == 8) {  // as above
      const Ints<8> known{size > 0x7f800000 ? (bits & INT32_MIN) | (zero + 0x7fc00000) : bits};
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                       _mm256_cvtps_ph(from_bits(known).v, _MM_FROUND_TO_NEAREST_INT));
      return;
    }
#endif
    const auto finite = size < 0x477ff000 ? size : zero;
    const auto whole = ((finite + 0xfff + ((finite >> 13) & 1)) >> 13) - (112 << 10);
    // What has no leading one: the last bit of one half is the least float16.
    const auto small =
        bits_of(sum(from_bits(Ints<lanes>{finite}), all_lanes<lanes>(0.5f))).v - 0x3f000000;
    const auto number = finite < 0x38800000 ? small : whole;
    const auto other = size > 0x7f800000 ? zero + 0x7e00 : zero + 0x7c00;
    store_halves(p, Ints<lanes>{(size < 0x477ff000 ? number : other) | (bits >> 16 & 0x8000)});
  }
#endif
};
struct NarrowBfloat {
  ETCH_INLINE uint16_t of(float x) { return bfloat_from_float(x); }
#if defined(__GNUC__)
  template <int lanes>
  ETCH_INLINE void store(uint16_t* p, const Floats<lanes>& x) {
    const auto bits = bits_of(x).v;
    const auto size = bits & 0x7fffffff;
    const auto number = size > 0x7f800000 ? size - size : size;
    const auto rounded = (number + 0x7fff + ((number >> 16) & 1)) >> 16;
    const auto kept = size > 0x7f800000 ? size >> 16 | 0x40 : rounded;
    store_halves(p, Ints<lanes>{kept | (bits >> 16 & 0x8000)});
  }
#endif
};

// y[i] = Form::of(x[i * step]), from 16 bits.
template <class Form, int lanes>
static inline void widen(const uint16_t* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  const ptrdiff_t whole = lanes > 1 && step == 1 ? n - n % lanes : 0;
#if defined(__GNUC__)
  for (ptrdiff_t i = 0; i < whole; i += lanes) store(y + i, Form::template load<lanes>(x + i));
#endif
  for (ptrdiff_t i = whole; i < n; ++i) y[i] = Form::of(x[i * step]);
}

// The same to 16 bits.
template <class Form, int lanes>
static inline void narrow(const float* x, ptrdiff_t step, uint16_t* y, ptrdiff_t n) {
  const ptrdiff_t whole = lanes > 1 && step == 1 ? n - n % lanes : 0;
#if defined(__GNUC__)
  for (ptrdiff_t i = 0; i < whole; i += lanes) Form::store(y + i, load<lanes>(x + i));
#endif
  for (ptrdiff_t i = whole; i < n; ++i) y[i] = Form::of(x[i * step]);
}

static inline void widen_half(const uint16_t* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  widen<WidenHalf, kFloatLanes>(x, step, y, n);
}
static inline void narrow_half(const float* x, ptrdiff_t step, uint16_t* y, ptrdiff_t n) {
  narrow<NarrowHalf, kFloatLanes>(x, step, y, n);
}
static inline void widen_bfloat(const uint16_t* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  widen<WidenBfloat, kFloatLanes>(x, step, y, n);
}
static inline void narrow_bfloat(const float* x, ptrdiff_t step, uint16_t* y, ptrdiff_t n) {
  narrow<NarrowBfloat, kFloatLanes>(x, step, y, n);
}
static inline void float_of_double(const double* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i * step]);
}
static inline void double_of_float(const float* x, ptrdiff_t step, double* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = static_cast<double>(x[i * step]);
}

}  // namespace rt
}  // namespace etch
