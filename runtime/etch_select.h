// Rows of elements that are picked, compared or chosen at run time: Gather, GatherElements, Where
// and comparisons. Sizes and steps are literals in generated code. C++17, freestanding, no heap, no
// state. Indices below 0 count from the end; those outside of the axis are limited to it, so that
// no index reads elsewhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_convert.h"

namespace etch {
namespace rt {

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

struct Equal {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a == b;
  }
};

struct Greater {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a > b;
  }
};

struct GreaterOrEqual {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a >= b;
  }
};

// Of bool, kept as 0 or 1.
struct And {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a != 0 && b != 0;
  }
};

struct Or {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a != 0 || b != 0;
  }
};

struct Xor {
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return (a != 0) != (b != 0);
  }
};

static inline int32_t comparable(uint8_t byte, Stored as) { return value_of(byte, as); }
static inline int32_t comparable(int32_t value, Stored) { return value; }
static inline int64_t comparable(int64_t value, Stored) { return value; }
static inline float comparable(float value, Stored) { return value; }

template <class Operation, class T>
static inline void compare(const T* a, ptrdiff_t a_step, Stored a_as, const T* b, ptrdiff_t b_step,
                           Stored b_as, uint8_t* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) {
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

template <class T>
static inline void choose(const uint8_t* condition, ptrdiff_t step, const T* a, ptrdiff_t a_step,
                          Stored a_as, const T* b, ptrdiff_t b_step, Stored b_as, T* y, Stored y_as,
                          ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    y[i] = condition[i * step] != 0 ? rekept(a[i * a_step], a_as, y_as)
                                    : rekept(b[i * b_step], b_as, y_as);
  }
}

}  // namespace rt
}  // namespace etch
