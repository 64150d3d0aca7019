// Rows of elements with everything known at run time: arithmetic on floats and integers with
// broadcasting, limits. C++17, freestanding, no heap, no state. A step of 0 repeats one
// element; sizes and steps count elements and are literals in generated code. Contiguous floats go
// in vectors; no function adds to a product. Arithmetic: docs/spec/float.md section 9.1.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_function_lanes.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// Operations with a form for vectors say so after their definition.
template <class Operation>
struct HasVectors {
  enum { value = 0 };
};

// ---- arithmetic: two operands ----

// Integer sums and products wrap; division truncates, and gives 0 for a divisor 0.
static inline int32_t wrap_s32(uint32_t bits) { return static_cast<int32_t>(bits); }
static inline int64_t wrap_s64(uint64_t bits) { return static_cast<int64_t>(bits); }

struct Add {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& a, const Floats<lanes>& b) {
    return sum(a, b);
  }
  ETCH_INLINE float of(float a, float b) { return a + b; }
  ETCH_INLINE int32_t of(int32_t a, int32_t b) {
    return wrap_s32(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
  ETCH_INLINE int64_t of(int64_t a, int64_t b) {
    return wrap_s64(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};

struct Sub {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& a, const Floats<lanes>& b) {
    return difference(a, b);
  }
  ETCH_INLINE float of(float a, float b) { return a - b; }
  ETCH_INLINE int32_t of(int32_t a, int32_t b) {
    return wrap_s32(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
  }
  ETCH_INLINE int64_t of(int64_t a, int64_t b) {
    return wrap_s64(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
};

struct Mul {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& a, const Floats<lanes>& b) {
    return product(a, b);
  }
  ETCH_INLINE float of(float a, float b) { return a * b; }
  ETCH_INLINE int32_t of(int32_t a, int32_t b) {
    return wrap_s32(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
  }
  ETCH_INLINE int64_t of(int64_t a, int64_t b) {
    return wrap_s64(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};

struct Div {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& a, const Floats<lanes>& b) {
    return quotient(a, b);
  }
  ETCH_INLINE float of(float a, float b) { return a / b; }
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    if (b == 0) return 0;
    if (b == -1) return Sub::of(Int{0}, a);
    if constexpr (sizeof(Int) == 8) {
      // Many CPUs and all libraries divide 32 bits in a fraction of the time.
      const auto low_a = static_cast<int32_t>(a), low_b = static_cast<int32_t>(b);
      if (low_a == a && low_b == b) return low_a / low_b;
    }
    return a / b;
  }
};

// What integer division leaves, with the sign of the divisor; 0 for a divisor 0.
struct Mod {
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    if (b == 0 || b == -1) return 0;
    const Int left = a % b;
    return left != 0 && (left < 0) != (b < 0) ? left + b : left;
  }
};

// An element that is NaN makes the result NaN.
struct Max {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& a, const Floats<lanes>& b) {
    return choose(below(b, a), a, choose(not_below(a, a), b, a));
  }
  ETCH_INLINE float of(float a, float b) { return a > b || is_nan(a) ? a : b; }
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    return a > b ? a : b;
  }
};

struct Min {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& a, const Floats<lanes>& b) {
    return choose(below(a, b), a, choose(not_below(a, a), b, a));
  }
  ETCH_INLINE float of(float a, float b) { return a < b || is_nan(a) ? a : b; }
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    return a < b ? a : b;
  }
};

template <>
struct HasVectors<Add> {
  enum { value = 1 };
};
template <>
struct HasVectors<Sub> {
  enum { value = 1 };
};
template <>
struct HasVectors<Mul> {
  enum { value = 1 };
};
template <>
struct HasVectors<Div> {
  enum { value = 1 };
};
template <>
struct HasVectors<Max> {
  enum { value = 1 };
};
template <>
struct HasVectors<Min> {
  enum { value = 1 };
};

// Operations on vectors of integers, which are unsigned where results wrap.
template <class Operation>
struct IntegerVectors {
  enum { value = 0 };
};
template <>
struct IntegerVectors<Add> {
  enum { value = 1, wraps = 1 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    return a + b;
  }
};
template <>
struct IntegerVectors<Sub> {
  enum { value = 1, wraps = 1 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    return a - b;
  }
};
template <>
struct IntegerVectors<Mul> {
  enum { value = 1, wraps = 1 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    return a * b;
  }
};
template <>
struct IntegerVectors<Max> {
  enum { value = 1, wraps = 0 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    return a > b ? a : b;
  }
};
template <>
struct IntegerVectors<Min> {
  enum { value = 1, wraps = 0 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    return a < b ? a : b;
  }
};

// The integers whose vectors stand for those of T.
template <class T, int wraps>
struct OfVectors {
  typedef T Type;
};
template <>
struct OfVectors<int32_t, 1> {
  typedef uint32_t Type;
};
template <>
struct OfVectors<int64_t, 1> {
  typedef uint64_t Type;
};

// The elements from p on, or the first of them repeated.
template <class Vector, class T>
ETCH_INLINE Vector load_integers(const T* p, ptrdiff_t step) {
  Vector v;
  if (step == 0) return static_cast<decltype(v[0] + v[0])>(*p) - Vector{};
  ETCH_MEMCPY(&v, p, sizeof v);
  return v;
}

// The beginning of a row that is computed in vectors: how many elements.
template <class Operation, class T>
static inline ptrdiff_t combine_vectors(const T* a, ptrdiff_t a_step, const T* b, ptrdiff_t b_step,
                                        T* y, ptrdiff_t n) {
#if defined(ETCH_FOUR_FLOATS)
  using Integers = IntegerVectors<Operation>;
  if constexpr (Integers::value != 0) {
    typedef typename OfVectors<T, Integers::wraps>::Type Type;
    typedef Type Vector __attribute__((vector_size(4 * kFloatLanes)));
    constexpr ptrdiff_t kCount = sizeof(Vector) / sizeof(T);
    if (!is_dense(a_step) || !is_dense(b_step)) return 0;
    const ptrdiff_t whole = n - n % kCount;
    for (ptrdiff_t i = 0; i < whole; i += kCount) {
      const Vector result = Integers::of(load_integers<Vector>(a + i * a_step, a_step),
                                         load_integers<Vector>(b + i * b_step, b_step));
      ETCH_MEMCPY(y + i, &result, sizeof result);
    }
    return whole;
  }
#else
  static_cast<void>(a), static_cast<void>(a_step), static_cast<void>(b);
  static_cast<void>(b_step), static_cast<void>(y), static_cast<void>(n);
#endif
  return 0;
}
template <class Operation>
static inline ptrdiff_t combine_vectors(const float* a, ptrdiff_t a_step, const float* b,
                                        ptrdiff_t b_step, float* y, ptrdiff_t n) {
  if constexpr (HasVectors<Operation>::value != 0) {
    if (!is_dense(a_step) || !is_dense(b_step)) return 0;
    return for_vectors<kFloatLanes>(0, n, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      store(y + i, Operation::of(load_or_repeat<kLanes>(a + i * a_step, a_step),
                                 load_or_repeat<kLanes>(b + i * b_step, b_step)));
    });
  } else {
    return 0;
  }
}

// y[i] = Operation(a[i * a_step], b[i * b_step])
template <class Operation, class T>
static inline void combine(const T* a, ptrdiff_t a_step, const T* b, ptrdiff_t b_step, T* y,
                           ptrdiff_t n) {
  const ptrdiff_t whole = combine_vectors<Operation>(a, a_step, b, b_step, y, n);
  for (ptrdiff_t i = whole; i < n; ++i) y[i] = Operation::of(a[i * a_step], b[i * b_step]);
}

// ---- arithmetic: one operand ----

// The parameter is what some of them need besides x.
struct Relu {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& x, const Floats<lanes>&) {
    const Floats<lanes> zero = all_lanes<lanes>(0.0f);
    return choose(below(x, zero), zero, x);
  }
  ETCH_INLINE float of(float x, float) { return x < 0.0f ? 0.0f : x; }
};
struct LeakyRelu {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& x, const Floats<lanes>& alpha) {
    return where_not_negative(x, product(alpha, x));
  }
  ETCH_INLINE float of(float x, float alpha) { return x >= 0.0f ? x : alpha * x; }
};
struct Sigmoid {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& x, const Floats<lanes>&) {
    return sigmoids(x);
  }
  ETCH_INLINE float of(float x, float) { return sigmoid_f32(x); }
};
struct RoundEven {
  // Above 2^23 floats have no fraction, so that adding it rounds what is below.
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& x, const Floats<lanes>&) {
    const Floats<lanes> most = all_lanes<lanes>(8388608.0f);
    const Floats<lanes> size = magnitudes(x);
    const Floats<lanes> whole = difference(sum(size, most), most);
    return choose(below(size, most), signed_as(whole, x), x);
  }
  ETCH_INLINE float of(float x, float) {
    const bool has_fraction = x < 8388608.0f && x > -8388608.0f;
    if (!has_fraction) return x;
    const uint32_t sign = float_bits(x) & 0x80000000u;
    return bits_float(float_bits(static_cast<float>(round_even(x))) | sign);
  }
};
// Limits keep NaN.
struct AtLeast {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& x, const Floats<lanes>& low) {
    return choose(below(x, low), low, x);
  }
  template <class T>
  ETCH_INLINE T of(T x, T low) {
    return x < low ? low : x;
  }
};
struct AtMost {
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& x, const Floats<lanes>& high) {
    return choose(below(high, x), high, x);
  }
  template <class T>
  ETCH_INLINE T of(T x, T high) {
    return high < x ? high : x;
  }
};

template <>
struct HasVectors<Relu> {
  enum { value = 1 };
};
template <>
struct HasVectors<LeakyRelu> {
  enum { value = 1 };
};
template <>
struct HasVectors<Sigmoid> {
  enum { value = 1 };
};
template <>
struct HasCheckedVectors<Sigmoid> {
  enum { value = 1 };
};
template <>
struct HasVectors<RoundEven> {
  enum { value = 1 };
};
template <>
struct HasVectors<AtLeast> {
  enum { value = 1 };
};
template <>
struct HasVectors<AtMost> {
  enum { value = 1 };
};

// The beginning of a row that is computed in vectors: how many elements.
template <class Operation, class T>
static inline ptrdiff_t map_vectors(const T*, ptrdiff_t, T*, ptrdiff_t, T) {
  return 0;
}
template <class Operation>
static inline ptrdiff_t map_vectors(const float* x, ptrdiff_t step, float* y, ptrdiff_t n,
                                    float parameter) {
  if constexpr (HasVectors<Operation>::value != 0) {
    if (step != 1) return 0;
#if defined(ETCH_CHECKED_FLOATS)
    if constexpr (HasCheckedVectors<Operation>::value != 0) {
      constexpr int kLanes = kCheckedLanes;
      return map_checked(
          n, y,
          [=](ptrdiff_t i) {
            return Operation::of(load<kLanes>(x + i), all_lanes<kLanes>(parameter));
          },
          [=](ptrdiff_t i) { return Operation::of(x[i], parameter); });
    }
#endif
    return for_vectors<kFloatLanes>(0, n, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      store(y + i, Operation::of(load<kLanes>(x + i), all_lanes<kLanes>(parameter)));
    });
  } else {
    return 0;
  }
}

// y[i] = Operation(x[i * step], parameter)
template <class Operation, class T, class Parameter>
static inline void map(const T* x, ptrdiff_t step, T* y, ptrdiff_t n, Parameter parameter) {
  const T given = static_cast<T>(parameter);
  const ptrdiff_t whole = map_vectors<Operation>(x, step, y, n, given);
  for (ptrdiff_t i = whole; i < n; ++i) y[i] = Operation::of(x[i * step], given);
}

// The beginning of a row that is computed in vectors: how many elements.
template <class T>
static inline ptrdiff_t clip_vectors(const T* x, ptrdiff_t step, T* y, ptrdiff_t n, T low, T high) {
  if constexpr (kFloatLanes > 1 && sizeof(T) < 8) {
    typedef T Vector __attribute__((vector_size(4 * kFloatLanes)));
    constexpr ptrdiff_t kCount = sizeof(Vector) / sizeof(T);
    if (step != 1) return 0;
    const Vector least = low - Vector{}, most = high - Vector{};
    for (ptrdiff_t i = 0; i < n - n % kCount; i += kCount) {
      Vector v;
      ETCH_MEMCPY(&v, x + i, sizeof v);
      v = v < least ? least : v;
      v = most < v ? most : v;
      ETCH_MEMCPY(y + i, &v, sizeof v);
    }
    return n - n % kCount;
  }
  return 0;
}
static inline ptrdiff_t clip_vectors(const float* x, ptrdiff_t step, float* y, ptrdiff_t n,
                                     float low, float high) {
  if (step != 1) return 0;
  return for_vectors<kFloatLanes>(0, n, [=](ptrdiff_t i, auto width) {
    constexpr int kLanes = decltype(width)::value;
    const Floats<kLanes> above = AtLeast::of(load<kLanes>(x + i), all_lanes<kLanes>(low));
    store(y + i, AtMost::of(above, all_lanes<kLanes>(high)));
  });
}

// y[i] = min(max(x[i * step], low), high): `high` where low > high.
template <class T, class Limit>
static inline void clip(const T* x, ptrdiff_t step, T* y, ptrdiff_t n, Limit low, Limit high) {
  const T least = static_cast<T>(low);
  const T most = static_cast<T>(high);
  const ptrdiff_t whole = clip_vectors(x, step, y, n, least, most);
  for (ptrdiff_t i = whole; i < n; ++i) y[i] = AtMost::of(AtLeast::of(x[i * step], least), most);
}

}  // namespace rt
}  // namespace etch
