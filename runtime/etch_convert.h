// Rows of elements in other forms, with everything known at run time: conversions between element
// types, QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, and QLinearAdd and QLinearMul
// with parameters that arrive at run time. C++17, freestanding, no heap, no state. A step of 0
// repeats one element; sizes and steps count elements. Arithmetic: docs/spec/quantization.md,
// docs/spec/qlinear.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_lanes.h"
#include "etch_float.h"
#include "etch_float_lanes.h"
#include "etch_stored.h"

namespace etch {
namespace rt {

// ---- conversions ----

// Truncation as the conversion instructions of x64 do it: what does not fit gives the least value.
template <class Int>
static inline Int truncated(double x) {
  constexpr Int kLeast = static_cast<Int>(Int{1} << (8 * sizeof(Int) - 2)) * -2;
  const bool fits = x > static_cast<double>(kLeast) - 1.0 && x < -static_cast<double>(kLeast);
  return fits ? static_cast<Int>(x) : kLeast;
}

// The same of several floats to int32.
template <int lanes>
ETCH_INLINE Ints<lanes> truncated(const Floats<lanes>& x) {
#if defined(__GNUC__) && defined(__AVX2__)
  if constexpr (lanes == 8)
    return {reinterpret_cast<typename Ints<8>::Vector>(_mm256_cvttps_epi32(x.v))};
#endif
  const Floats<lanes> most = all_lanes<lanes>(2147483648.0f);
  const auto fits = below(x, most).v & not_below(x, negated(most)).v;
  const Ints<lanes> whole = to_ints(choose(Lanes<lanes>{fits}, x, all_lanes<lanes>(0.0f)));
  return {(whole.v & fits) | (INT32_MIN & ~fits)};
}

template <class To>
struct Convert {  // to integers of at most 32 bits: through int32, the low bits kept
  ETCH_INLINE To of(float x) { return static_cast<To>(truncated<int32_t>(static_cast<double>(x))); }
  template <class Int>
  ETCH_INLINE To of(Int x) {
    return static_cast<To>(x);
  }
};
template <>
struct Convert<int64_t> {
  ETCH_INLINE int64_t of(float x) { return truncated<int64_t>(static_cast<double>(x)); }
  template <class Int>
  ETCH_INLINE int64_t of(Int x) {
    return static_cast<int64_t>(x);
  }
};
template <>
struct Convert<float> {
  template <class From>
  ETCH_INLINE float of(From x) {
    return static_cast<float>(x);
  }
};
template <>
struct Convert<bool> {
  ETCH_INLINE bool of(float x) { return float_bits(x) << 1 != 0u; }
  template <class Int>
  ETCH_INLINE bool of(Int x) {
    return x != 0;
  }
};

static inline float element(float x, Stored) { return x; }
static inline int64_t element(int64_t x, Stored) { return x; }
template <class Int>
static inline int32_t element(Int x, Stored as) {
  return value_of(x, as);
}

static inline float kept(float y, Stored) { return y; }
static inline int64_t kept(int64_t y, Stored) { return y; }
static inline int32_t kept(int32_t y, Stored) { return y; }
static inline uint16_t kept(uint16_t y, Stored) { return y; }
static inline int16_t kept(int16_t y, Stored) { return y; }
static inline uint8_t kept(bool y, Stored) { return y ? 1 : 0; }
static inline uint8_t kept(uint8_t y, Stored) { return y; }
static inline uint8_t kept(int8_t y, Stored as) { return keep<uint8_t>(y, as); }

// Neighbouring elements, several at once: as element() and kept() have them.
template <int lanes>
ETCH_INLINE Ints<lanes> load_elements(const uint8_t* x, Stored as) {
  return load_values<lanes>(x, as);
}
template <int lanes>
ETCH_INLINE Ints<lanes> load_elements(const int32_t* x, Stored) {
  decltype(Ints<lanes>::v) v;  // see load_pack()
  ETCH_MEMCPY(&v, x, sizeof v);
  return {v};
}
template <int lanes>
ETCH_INLINE Floats<lanes> load_elements(const float* x, Stored) {
  return load<lanes>(x);
}
template <int lanes>
ETCH_INLINE void keep_elements(uint8_t* y, const Ints<lanes>& x, Stored as) {
  keep_bytes(y, Ints<lanes>{x.v & 255}, as);  // so that no sum overflows
}
// Not as a copy of bytes, for which gcc takes integers through the stack.
template <int lanes>
ETCH_INLINE void keep_elements(int32_t* y, const Ints<lanes>& x, Stored) {
#if defined(__GNUC__) && defined(__AVX2__)
  if constexpr (lanes == 8) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), reinterpret_cast<__m256i>(x.v));
    return;
  }
#endif
  ETCH_MEMCPY(y, &x, sizeof x);
}
template <int lanes>
ETCH_INLINE void keep_elements(float* y, const Floats<lanes>& x, Stored) {
  store(y, x);
}

// Convert<To> of vectors: to floats, and to integers of at most 32 bits, of which the low bits are
// kept.
template <int lanes>
ETCH_INLINE Floats<lanes> converted(float, const Ints<lanes>& x) {
  return to_floats(x);
}
template <int lanes>
ETCH_INLINE Floats<lanes> converted(float, const Floats<lanes>& x) {
  return x;
}
template <class To, int lanes>
ETCH_INLINE Ints<lanes> converted(To, const Ints<lanes>& x) {
  return x;
}
template <class To, int lanes>
ETCH_INLINE Ints<lanes> converted(To, const Floats<lanes>& x) {
  return truncated(x);
}

template <int lanes>
ETCH_INLINE Ints<lanes> converted(bool, const Ints<lanes>& x) {
  return {(x.v != 0) & 1};
}
template <int lanes>
ETCH_INLINE Ints<lanes> converted(bool, const Floats<lanes>& x) {
  return {((bits_of(x).v & 0x7fffffff) != 0) & 1};
}

// What is converted in vectors: kept in bytes, int32 or float.
template <class T>
struct InVectors {
  enum { kYes = 0 };
};
template <>
struct InVectors<uint8_t> {
  enum { kYes = 1 };
};
template <>
struct InVectors<int32_t> {
  enum { kYes = 1 };
};
template <>
struct InVectors<float> {
  enum { kYes = 1 };
};

// The beginning of a row that is converted in vectors: how many elements.
template <class To, class From, class T>
static inline ptrdiff_t cast_vectors(const From* x, ptrdiff_t step, Stored x_as, T* y, Stored y_as,
                                     ptrdiff_t n) {
  if constexpr (InVectors<From>::kYes && InVectors<T>::kYes) {
    if (step != 1) return 0;
    return for_vectors<kFloatLanes>(0, n, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      const auto each = load_elements<kLanes>(x + i, x_as);
      keep_elements(y + i, converted(To{}, each), y_as);
    });
  } else {
    return 0;
  }
}

// y[i] = x[i * step] converted to To and kept as T.
template <class To, class From, class T>
static inline void cast(const From* x, ptrdiff_t step, Stored x_as, T* y, Stored y_as,
                        ptrdiff_t n) {
  const ptrdiff_t whole = cast_vectors<To>(x, step, x_as, y, y_as, n);
  for (ptrdiff_t i = whole; i < n; ++i)
    y[i] = kept(Convert<To>::of(element(x[i * step], x_as)), y_as);
}

// ---- quantization ----

// What a tensor of integers may hold.
struct Range {
  int32_t low;
  int32_t high;
};

// rne(clamp(value, low - zero_point, high - zero_point)) + zero_point; NaN gives low. Everything
// fits 20 bits: the sum with 1.5 * 2^23 has a last bit of weight 1, and no product comes before it.
static inline int32_t rounded(float value, int32_t zero_point, Range range) {
  constexpr float kBias = 12582912.0f;
  const float lower = static_cast<float>(range.low - zero_point);
  const float upper = static_cast<float>(range.high - zero_point);
  const float above = value > lower ? value : lower;
  const float inside = above < upper ? above : upper;
  return static_cast<int32_t>(float_bits(inside + kBias)) -
         static_cast<int32_t>(float_bits(kBias)) + zero_point;
}

// QuantizeLinear: y[i] = saturate(rne(x[i] / scale[..]) + zero_point[..]).
template <class T, class Zero>
static inline void quantize_row(const float* x, ptrdiff_t x_step, const float* scale,
                                ptrdiff_t scale_step, const Zero* zero_point, ptrdiff_t zero_step,
                                Stored zero_as, T* y, Stored y_as, Range range, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const int32_t zero = value_of(zero_point[i * zero_step], zero_as);
    y[i] = keep<T>(rounded(x[i * x_step] / scale[i * scale_step], zero, range), y_as);
  }
}

// The same where scales are powers of two, with their reciprocals: products are the quotients, and
// exact unless subnormal, so that a compiler may fuse them with a sum.
template <class T, class Zero>
static inline void quantize_row_by_factors(const float* x, ptrdiff_t x_step, const float* factor,
                                           ptrdiff_t factor_step, const Zero* zero_point,
                                           ptrdiff_t zero_step, Stored zero_as, T* y, Stored y_as,
                                           Range range, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const int32_t zero = value_of(zero_point[i * zero_step], zero_as);
    y[i] = keep<T>(rounded(x[i * x_step] * factor[i * factor_step], zero, range), y_as);
  }
}

// DequantizeLinear: y[i] = fl(float(x[i] - zero_point[..]) * scale[..]), differences modulo 2^32.
template <class T, class Zero>
static inline void dequantize_row(const T* x, ptrdiff_t x_step, Stored x_as, const float* scale,
                                  ptrdiff_t scale_step, const Zero* zero_point, ptrdiff_t zero_step,
                                  Stored zero_as, float* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const int32_t zero = value_of(zero_point[i * zero_step], zero_as);
    const uint32_t steps =
        static_cast<uint32_t>(value_of(x[i * x_step], x_as)) - static_cast<uint32_t>(zero);
    y[i] = static_cast<float>(static_cast<int32_t>(steps)) * scale[i * scale_step];
  }
}

// rne(v), clamped to the range, for QLinearMul. NaN and values beyond int32 give `low`, as ONNX
// Runtime's conversion on x64 does.
static inline int32_t rounded_product(float v, Range range) {
  if (!(v > -2147483648.0f && v < 2147483648.0f)) return range.low;
  return rounded(v, 0, range);
}

// QLinearAdd: a / c and b / c are ratios of scales; all products are fused (docs/spec/qlinear.md
// section 6.2).
// The sum holds the zero point, and is clamped before it is rounded.
static inline void qlinear_add(const uint8_t* a, ptrdiff_t a_step, Stored a_as,
                               const float* a_scale, const uint8_t* a_zero, Stored a_zero_as,
                               const uint8_t* b, ptrdiff_t b_step, Stored b_as,
                               const float* b_scale, const uint8_t* b_zero, Stored b_zero_as,
                               const float* c_scale, const uint8_t* c_zero, Stored c_zero_as,
                               uint8_t* y, Stored y_as, Range range, ptrdiff_t n) {
  const float ratio_a = *a_scale / *c_scale;
  const float ratio_b = *b_scale / *c_scale;
  const float zero_a = static_cast<float>(value_of(*a_zero, a_zero_as));
  const float product_b = opaque(ratio_b * static_cast<float>(value_of(*b_zero, b_zero_as)));
  const float zeros = fma_exact(ratio_a, zero_a, product_b);
  const float fixed = static_cast<float>(value_of(*c_zero, c_zero_as)) - zeros;
  for (ptrdiff_t i = 0; i < n; ++i) {
    const float left = static_cast<float>(value_of(a[i * a_step], a_as));
    const float right = static_cast<float>(value_of(b[i * b_step], b_as));
    const float sum = fma_exact(left, ratio_a, fma_exact(right, ratio_b, fixed));
    y[i] = keep<uint8_t>(rounded(sum, 0, range), y_as);
  }
}

// QLinearMul (docs/spec/qlinear.md section 6.3): the zero point is added before rounding.
static inline void qlinear_mul(const uint8_t* a, ptrdiff_t a_step, Stored a_as,
                               const float* a_scale, const uint8_t* a_zero, Stored a_zero_as,
                               const uint8_t* b, ptrdiff_t b_step, Stored b_as,
                               const float* b_scale, const uint8_t* b_zero, Stored b_zero_as,
                               const float* c_scale, const uint8_t* c_zero, Stored c_zero_as,
                               uint8_t* y, Stored y_as, Range range, ptrdiff_t n) {
  const float scale = opaque(*a_scale * *b_scale) / *c_scale;
  const int32_t zero_a = value_of(*a_zero, a_zero_as);
  const int32_t zero_b = value_of(*b_zero, b_zero_as);
  const float zero_c = static_cast<float>(value_of(*c_zero, c_zero_as));
  for (ptrdiff_t i = 0; i < n; ++i) {
    const int32_t product =
        (value_of(a[i * a_step], a_as) - zero_a) * (value_of(b[i * b_step], b_as) - zero_b);
    const float scaled = opaque(static_cast<float>(product) * scale);
    y[i] = keep<uint8_t>(rounded_product(scaled + zero_c, range), y_as);
  }
}

// DynamicQuantizeLinear's scale and zero point (uint8) for n contiguous values. NaN elements take
// no part in the range.
static inline void dynamic_range(const float* x, float* scale, uint8_t* zero_point, ptrdiff_t n) {
  float low = 0.0f;
  float high = 0.0f;
  for (ptrdiff_t i = 0; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  const float range = high - low;
  const float step = low < high ? range / 255.0f : 1.0f;
  *scale = step;
  *zero_point = static_cast<uint8_t>(rounded(0.0f - low / step, 0, {0, 255}));
}

}  // namespace rt
}  // namespace etch
