// Rows of elements that are picked, compared or chosen at run time: Gather, GatherElements, Where
// and comparisons. Sizes and steps are literals in generated code. C++17, freestanding, no heap, no
// state. Indices below 0 count from the end; those outside of the axis are limited to it, so that
// no index reads elsewhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_vector.h"
#include "etch_convert.h"
#include "etch_element_vectors.h"
#include "etch_intrinsics.h"

#if defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define ETCH_FOUR_LANES 1
#endif

namespace etch {
namespace rt {

#if defined(ETCH_FOUR_LANES)
// ---- the elements of four vectors of 16 bytes, of 4 bytes each ----

ETCH_INLINE bool fills_vectors(ptrdiff_t step) { return step == 0 || step == 1; }

// From p on, or with a step of 0 always the first.
template <class T>
ETCH_INLINE int32x4_t load_elements(const T* p, ptrdiff_t step) {
  const int32_t first = bits_at(p);
  if (step == 0) return vdupq_n_s32(first);
  int32x4_t some;
  ETCH_MEMCPY(&some, p, sizeof some);
  return some;
}

// -1 or 0.
template <class Operation>
ETCH_INLINE int32x4_t comparison(int32x4_t a, int32x4_t b, int32_t) {
  return reinterpret_cast<int32x4_t>(Operation::of(a, b));
}
template <class Operation>
ETCH_INLINE int32x4_t comparison(int32x4_t a, int32x4_t b, float) {
  return reinterpret_cast<int32x4_t>(
      Operation::of(vreinterpretq_f32_s32(a), vreinterpretq_f32_s32(b)));
}

// 1 or 0 of each that is -1 or 0.
ETCH_INLINE void store_truth(uint8_t* y, const int32x4_t (&holds)[4]) {
  const int16x8_t low = vcombine_s16(vmovn_s32(holds[0]), vmovn_s32(holds[1]));
  const int16x8_t high = vcombine_s16(vmovn_s32(holds[2]), vmovn_s32(holds[3]));
  const int8x16_t all = vcombine_s8(vmovn_s16(low), vmovn_s16(high));
  vst1q_u8(y, vshrq_n_u8(vreinterpretq_u8_s8(all), 7));
}

// All ones where the byte is not 0.
ETCH_INLINE void load_truth(const uint8_t* bytes, uint32x4_t (&where)[4]) {
  const uint8x16_t some = vld1q_u8(bytes);
  const int8x16_t all = vreinterpretq_s8_u8(vtstq_u8(some, some));
  const int16x8_t low = vmovl_s8(vget_low_s8(all)), high = vmovl_s8(vget_high_s8(all));
  where[0] = vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(low)));
  where[1] = vreinterpretq_u32_s32(vmovl_s16(vget_high_s16(low)));
  where[2] = vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(high)));
  where[3] = vreinterpretq_u32_s32(vmovl_s16(vget_high_s16(high)));
}
#endif

template <class Index>
static inline ptrdiff_t position_of(Index index, int32_t size) {
  const int64_t at = int64_t{index} < 0 ? int64_t{index} + size : int64_t{index};
  return static_cast<ptrdiff_t>(at < 0 ? 0 : at >= size ? size - 1 : at);
}

// `outer` times: of `size` slices of `bytes` bytes, the `count` that the indices name.
template <class Index>
static inline void gather(const uint8_t* x, const Index* indices, uint8_t* y, int outer, int size,
                          int count, int bytes) {
  for (int i = 0; i < outer; ++i) {
    for (int k = 0; k < count; ++k) {
      const ptrdiff_t slice = ptrdiff_t{i} * size + position_of(indices[k], size);
      ETCH_MEMCPY(y, x + slice * bytes, static_cast<size_t>(bytes));
      y += bytes;
    }
  }
}

// A row of n elements of `bytes` bytes: element i comes from the place along the axis that its
// index names. Steps in bytes, that of the indices in elements.
template <class Index>
static inline void gather_row(const uint8_t* x, ptrdiff_t x_step, ptrdiff_t axis_step, int size,
                              const Index* indices, ptrdiff_t index_step, uint8_t* y,
                              ptrdiff_t y_step, int bytes, int n) {
  for (int i = 0; i < n; ++i) {
    const ptrdiff_t at = position_of(indices[i * index_step], size);
    ETCH_MEMCPY(y + i * y_step, x + i * x_step + at * axis_step, static_cast<size_t>(bytes));
  }
}

// ---- comparisons: 1 or 0 ----

// Those of numbers also compare vectors, which gives -1 or 0.
template <class Operation>
struct ComparesVectors {
  enum { value = 0 };
};

struct Equal {
  template <class T>
  ETCH_INLINE auto of(const T& a, const T& b) {
    return a == b;
  }
};
template <>
struct ComparesVectors<Equal> {
  enum { value = 1 };
};

struct Greater {
  template <class T>
  ETCH_INLINE auto of(const T& a, const T& b) {
    return a > b;
  }
};
template <>
struct ComparesVectors<Greater> {
  enum { value = 1 };
};

struct GreaterOrEqual {
  template <class T>
  ETCH_INLINE auto of(const T& a, const T& b) {
    return a >= b;
  }
};
template <>
struct ComparesVectors<GreaterOrEqual> {
  enum { value = 1 };
};

// Of bool, kept as 0 or 1.
struct And {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a != 0 && b != 0;
  }
  template <class Vector>
  ETCH_INLINE auto of_vectors(const Vector& a, const Vector& b) {
    return (a != 0) & (b != 0);
  }
};

struct Or {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a != 0 || b != 0;
  }
  template <class Vector>
  ETCH_INLINE auto of_vectors(const Vector& a, const Vector& b) {
    return (a != 0) | (b != 0);
  }
};

struct Xor {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return (a != 0) != (b != 0);
  }
  template <class Vector>
  ETCH_INLINE auto of_vectors(const Vector& a, const Vector& b) {
    return (a != 0) ^ (b != 0);
  }
};

static inline int32_t comparable(uint8_t byte, Stored as) { return value_of(byte, as); }
static inline int32_t comparable(int32_t value, Stored) { return value; }
static inline int64_t comparable(int64_t value, Stored) { return value; }
static inline float comparable(float value, Stored) { return value; }

// The beginning of a row that is compared in vectors: how many elements.
template <class Operation, class T>
static inline ptrdiff_t compare_vectors(const T* a, ptrdiff_t a_step, const T* b, ptrdiff_t b_step,
                                        uint8_t* y, ptrdiff_t n) {
#if defined(ETCH_ELEMENTS)
  if constexpr (ComparesVectors<Operation>::value != 0 && sizeof(T) >= 4) {
    typedef typename BitsOf<T>::Int Int;
    typedef T Vector __attribute__((vector_size(sizeof(ElementVector))));
    constexpr ptrdiff_t kLanes = sizeof(Vector) / sizeof(T);
    if (!fills_vectors(a_step) || !fills_vectors(b_step)) return 0;
    const ptrdiff_t whole = n - n % kLanes;
    for (ptrdiff_t i = 0; i < whole; i += kLanes) {
      const Vector some = reinterpret_cast<Vector>(load_elements(a + i * a_step, a_step));
      const Vector others = reinterpret_cast<Vector>(load_elements(b + i * b_step, b_step));
      store_truth(y + i, reinterpret_cast<ElementVector>(Operation::of(some, others)), Int{});
    }
    return whole;
  }
#elif defined(ETCH_FOUR_LANES)
  if constexpr (ComparesVectors<Operation>::value != 0 && sizeof(T) == 4) {
    if (!fills_vectors(a_step) || !fills_vectors(b_step)) return 0;
    const ptrdiff_t whole = n - n % 16;
    for (ptrdiff_t i = 0; i < whole; i += 16) {
      int32x4_t holds[4];
      for (ptrdiff_t k = 0; k < 4; ++k) {
        const ptrdiff_t at = i + 4 * k;
        holds[k] = comparison<Operation>(load_elements(a + at * a_step, a_step),
                                         load_elements(b + at * b_step, b_step), T{});
      }
      store_truth(y + i, holds);
    }
    return whole;
  }
#endif
  static_cast<void>(a), static_cast<void>(a_step), static_cast<void>(b);
  static_cast<void>(b_step), static_cast<void>(y), static_cast<void>(n);
  return 0;
}

// The same of bytes. Those of one type are in the order of their values once their flips are
// undone.
template <class Operation>
static inline ptrdiff_t compare_byte_vectors(const uint8_t* a, ptrdiff_t a_step, Stored a_as,
                                             const uint8_t* b, ptrdiff_t b_step, Stored b_as,
                                             uint8_t* y, ptrdiff_t n) {
  ptrdiff_t i = 0;
#if defined(ETCH_BYTE_VECTOR)
  constexpr ptrdiff_t kCount = sizeof(ByteVector);
  if (!is_dense(a_step) || !is_dense(b_step) || a_as.offset != b_as.offset) return 0;
  const ByteVector a_flip = repeated_byte(a_as.flip), b_flip = repeated_byte(b_as.flip);
  for (; n - i >= kCount; i += kCount) {
    const ByteVector some = load_byte_vector(a + i * a_step, a_step) ^ a_flip;
    const ByteVector others = load_byte_vector(b + i * b_step, b_step) ^ b_flip;
    ByteVector holds;
    if constexpr (ComparesVectors<Operation>::value != 0) {
      holds = reinterpret_cast<ByteVector>(Operation::of(some, others));
    } else {
      holds = reinterpret_cast<ByteVector>(Operation::of_vectors(some, others));
    }
    holds &= 1;
    ETCH_MEMCPY(y + i, &holds, sizeof holds);
  }
#else
  static_cast<void>(a), static_cast<void>(a_step), static_cast<void>(a_as);
  static_cast<void>(b), static_cast<void>(b_step), static_cast<void>(b_as);
  static_cast<void>(y), static_cast<void>(n);
#endif
  return i;
}

template <class Operation, class T>
static inline void compare(const T* a, ptrdiff_t a_step, Stored a_as, const T* b, ptrdiff_t b_step,
                           Stored b_as, uint8_t* y, ptrdiff_t n) {
  ptrdiff_t whole = 0;
  if constexpr (sizeof(T) == 1) {
    whole = compare_byte_vectors<Operation>(a, a_step, a_as, b, b_step, b_as, y, n);
  } else {
    whole = compare_vectors<Operation>(a, a_step, b, b_step, y, n);
  }
  for (ptrdiff_t i = whole; i < n; ++i) {
    const bool holds =
        Operation::of(comparable(a[i * a_step], a_as), comparable(b[i * b_step], b_as));
    y[i] = holds ? 1 : 0;
  }
}

// ---- choice: y = condition ? a : b ----

static inline uint8_t rekept(uint8_t byte, Stored from, Stored to) {
  return keep<uint8_t>(value_of(byte, from), to);
}
template <class T>
static inline T rekept(T value, Stored, Stored) {
  return value;
}

// a where the condition is not 0, else b, without a branch: conditions have no pattern.
template <class Int>
ETCH_INLINE Int chosen(uint8_t condition, Int a, Int b) {
  const Int where = static_cast<Int>(-static_cast<int32_t>(condition != 0));
  return static_cast<Int>((a & where) | (b & ~where));
}

// The beginning of a row that is chosen in vectors: how many elements.
template <class T>
static inline ptrdiff_t choose_vectors(const uint8_t* condition, ptrdiff_t step, const T* a,
                                       ptrdiff_t a_step, const T* b, ptrdiff_t b_step, T* y,
                                       ptrdiff_t n) {
#if defined(ETCH_ELEMENTS)
  if constexpr (sizeof(T) >= 4) {
    constexpr ptrdiff_t kLanes = sizeof(ElementVector) / sizeof(T);
    if (step != 1 || !fills_vectors(a_step) || !fills_vectors(b_step)) return 0;
    const ptrdiff_t whole = n - n % kLanes;
    for (ptrdiff_t i = 0; i < whole; i += kLanes) {
      const ElementVector yes = load_elements(a + i * a_step, a_step);
      const ElementVector no = load_elements(b + i * b_step, b_step);
      const typename BitsOf<T>::Int kind{};
      const ElementVector each = choose_elements(condition + i, yes, no, kind);
      ETCH_MEMCPY(y + i, &each, sizeof each);
    }
    return whole;
  }
#elif defined(ETCH_FOUR_LANES)
  if constexpr (sizeof(T) == 4) {
    if (step != 1 || !fills_vectors(a_step) || !fills_vectors(b_step)) return 0;
    const ptrdiff_t whole = n - n % 16;
    for (ptrdiff_t i = 0; i < whole; i += 16) {
      uint32x4_t where[4];
      load_truth(condition + i, where);
      for (ptrdiff_t k = 0; k < 4; ++k) {
        const ptrdiff_t at = i + 4 * k;
        const int32x4_t each = vbslq_s32(where[k], load_elements(a + at * a_step, a_step),
                                         load_elements(b + at * b_step, b_step));
        ETCH_MEMCPY(y + at, &each, sizeof each);
      }
    }
    return whole;
  }
#endif
  static_cast<void>(condition), static_cast<void>(step), static_cast<void>(a);
  static_cast<void>(a_step), static_cast<void>(b), static_cast<void>(b_step);
  static_cast<void>(y), static_cast<void>(n);
  return 0;
}

#if defined(ETCH_BYTE_VECTOR)
// The same of bytes, which keep their values, and of 16 bits. One condition may be that of all.
static inline ptrdiff_t choose_byte_vectors(const uint8_t* condition, ptrdiff_t step,
                                            const uint8_t* a, ptrdiff_t a_step, Stored a_as,
                                            const uint8_t* b, ptrdiff_t b_step, Stored b_as,
                                            uint8_t* y, Stored y_as, ptrdiff_t n) {
  constexpr ptrdiff_t kCount = sizeof(ByteVector);
  const bool is_one_type = a_as.offset == y_as.offset && b_as.offset == y_as.offset;
  if (!is_dense(step) || !is_dense(a_step) || !is_dense(b_step) || !is_one_type) return 0;
  const ByteVector a_flip = repeated_byte(a_as.flip ^ y_as.flip);
  const ByteVector b_flip = repeated_byte(b_as.flip ^ y_as.flip);
  ptrdiff_t i = 0;
  for (; n - i >= kCount; i += kCount) {
    const ByteVector where = truth_of(load_byte_vector(condition + i * step, step));
    const ByteVector yes = load_byte_vector(a + i * a_step, a_step) ^ a_flip;
    const ByteVector no = load_byte_vector(b + i * b_step, b_step) ^ b_flip;
    const ByteVector each = (yes & where) | (no & ~where);
    ETCH_MEMCPY(y + i, &each, sizeof each);
  }
  return i;
}
template <class T>
static inline ptrdiff_t choose_half_vectors(const uint8_t* condition, ptrdiff_t step, const T* a,
                                            ptrdiff_t a_step, const T* b, ptrdiff_t b_step, T* y,
                                            ptrdiff_t n) {
  constexpr ptrdiff_t kCount = sizeof(HalfVector) / 2;
  if (!is_dense(step) || !is_dense(a_step) || !is_dense(b_step)) return 0;
  const ptrdiff_t whole = n - n % kCount;  // g++ 12 warns of the rest after a loop's own count
  for (ptrdiff_t i = 0; i < whole; i += kCount) {
    const HalfVector where = half_truth(condition + i * step, step);
    const HalfVector yes = load_half_vector(a + i * a_step, a_step);
    const HalfVector no = load_half_vector(b + i * b_step, b_step);
    const HalfVector each = (yes & where) | (no & ~where);
    ETCH_MEMCPY(y + i, &each, sizeof each);
  }
  return whole;
}
#endif

// How many elements of a row of any type are chosen at once.
template <class T>
static inline ptrdiff_t choose_at_once(const uint8_t* condition, ptrdiff_t step, const T* a,
                                       ptrdiff_t a_step, Stored a_as, const T* b, ptrdiff_t b_step,
                                       Stored b_as, T* y, Stored y_as, ptrdiff_t n) {
#if defined(ETCH_BYTE_VECTOR)
  if constexpr (sizeof(T) == 1) {
    return choose_byte_vectors(condition, step, a, a_step, a_as, b, b_step, b_as, y, y_as, n);
  } else if constexpr (sizeof(T) == 2) {
    return choose_half_vectors(condition, step, a, a_step, b, b_step, y, n);
  }
#endif
  static_cast<void>(a_as), static_cast<void>(b_as), static_cast<void>(y_as);
  const ptrdiff_t chosen_step = *condition != 0 ? a_step : b_step;
  if (sizeof(T) > 1 && step == 0 && chosen_step == 1) {
    ETCH_MEMCPY(y, *condition != 0 ? a : b, static_cast<size_t>(n) * sizeof(T));
    return n;
  }
  return choose_vectors(condition, step, a, a_step, b, b_step, y, n);
}

template <class T>
static inline void choose(const uint8_t* condition, ptrdiff_t step, const T* a, ptrdiff_t a_step,
                          Stored a_as, const T* b, ptrdiff_t b_step, Stored b_as, T* y, Stored y_as,
                          ptrdiff_t n) {
  const ptrdiff_t whole =
      choose_at_once(condition, step, a, a_step, a_as, b, b_step, b_as, y, y_as, n);
  for (ptrdiff_t i = whole; i < n; ++i) {
    const auto bits = chosen(condition[i * step], rekept(bits_at(a + i * a_step), a_as, y_as),
                             rekept(bits_at(b + i * b_step), b_as, y_as));
    ETCH_MEMCPY(y + i, &bits, sizeof bits);
  }
}

}  // namespace rt
}  // namespace etch
