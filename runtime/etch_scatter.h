// Writing at indices that are known at run time only, running sums and products along an axis.
// C++17, freestanding, no heap, no state. Whatever the indices are, they are limited to the rows
// that there are, so that nothing is written elsewhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_vector.h"
#include "etch_elementwise.h"
#include "etch_select.h"

namespace etch {
namespace rt {

// What is there already, and what comes.
struct Replace {
  template <class T>
  ETCH_INLINE T of(T, T update) {
    return update;
  }
};

template <class Operation>
struct OverwritesAll {
  enum { value = 0 };
};
template <>
struct OverwritesAll<Replace> {
  enum { value = 1 };
};

// y = x, `size` rows of `width` elements; then for i from 0 to count - 1 in order row indices[i] of
// y is combined with row i of the updates.
template <class Operation, class T>
static inline void scatter(const T* x, const int64_t* indices, const T* updates, T* y, int size,
                           int width, int count) {
  const ptrdiff_t row = width;
  ETCH_MEMCPY(y, x, static_cast<size_t>(size * row) * sizeof(T));
  for (int i = 0; i < count; ++i) {
    T* to = y + position_of(indices[i], size) * row;
    const T* const from = updates + i * row;
    if constexpr (OverwritesAll<Operation>::value) {
      ETCH_MEMCPY(to, from, static_cast<size_t>(row) * sizeof(T));
    } else {
      combine<Operation>(to, 1, from, 1, to, row);
    }
  }
}

// n bytes, of which the bits of `flip` are inverted.
static inline void move_flipped(const uint8_t* x, uint8_t* y, ptrdiff_t n, int32_t flip) {
  if (flip == 0) {
    ETCH_MEMCPY(y, x, static_cast<size_t>(n));
    return;
  }
  ptrdiff_t i = 0;
#if defined(ETCH_BYTE_VECTOR)
  constexpr ptrdiff_t kCount = sizeof(ByteVector);
  for (; n - i >= kCount; i += kCount) {
    const ByteVector each = load_byte_vector(x + i, 1) ^ repeated_byte(flip);
    ETCH_MEMCPY(y + i, &each, sizeof each);
  }
#endif
  for (; i < n; ++i) y[i] = static_cast<uint8_t>(x[i] ^ flip);
}

// scatter<Replace> of 8-bit integers, which may be kept in different forms; flips against that of
// y.
static inline void scatter_bytes(const uint8_t* x, int x_flip, const int64_t* indices,
                                 const uint8_t* updates, int updates_flip, uint8_t* y, int size,
                                 int width, int count) {
  const ptrdiff_t row = width;
  move_flipped(x, y, size * row, x_flip);
  for (int i = 0; i < count; ++i)
    move_flipped(updates + i * row, y + position_of(indices[i], size) * row, row, updates_flip);
}

// n elements along an axis: y[i] is x[0] op x[1] op ... x[i], from the left; exclusive: without
// x[i], so that the first is `first`. Reverse: the same from the end.
template <class Operation, class T>
static inline void scan(const T* x, ptrdiff_t x_step, T* y, ptrdiff_t y_step, int n, int exclusive,
                        int reverse, int first) {
  T so_far = static_cast<T>(first);
  for (int k = 0; k < n; ++k) {
    const ptrdiff_t i = reverse != 0 ? n - 1 - k : k;
    const T next = Operation::of(so_far, x[i * x_step]);
    y[i * y_step] = exclusive != 0 ? so_far : next;
    so_far = next;
  }
}

constexpr ptrdiff_t kLongRow = 512;  // bytes

// scan() of as many lines as a vector has, which are neighbours: what is summed up stays in it. Not
// of long rows, which are read and written faster one after the other than in steps from row to
// row.
template <class Operation, class T>
static inline ptrdiff_t scan_vectors(const T* x, ptrdiff_t x_step, T* y, ptrdiff_t y_step, int n,
                                     int lines, int exclusive, int reverse, int first) {
  ptrdiff_t j = 0;
#if defined(ETCH_FOUR_FLOATS)
  if constexpr (IntegerVectors<Operation>::value != 0) {
    typedef typename OfVectors<T, IntegerVectors<Operation>::wraps>::Type Type;
    typedef Type Vector __attribute__((vector_size(4 * kFloatLanes)));
    constexpr ptrdiff_t kCount = sizeof(Vector) / sizeof(T);
    if (lines * static_cast<ptrdiff_t>(sizeof(T)) >= kLongRow) return 0;
    for (; lines - j >= kCount; j += kCount) {
      Vector so_far = static_cast<Type>(first) - Vector{};
      for (int k = 0; k < n; ++k) {
        const ptrdiff_t i = reverse != 0 ? n - 1 - k : k;
        Vector each;
        ETCH_MEMCPY(&each, x + i * x_step + j, sizeof each);
        const Vector next = IntegerVectors<Operation>::of(so_far, each);
        ETCH_MEMCPY(y + i * y_step + j, exclusive != 0 ? &so_far : &next, sizeof each);
        so_far = next;
      }
    }
  }
#else
  static_cast<void>(x), static_cast<void>(x_step), static_cast<void>(y);
  static_cast<void>(y_step), static_cast<void>(n), static_cast<void>(lines);
  static_cast<void>(exclusive), static_cast<void>(reverse), static_cast<void>(first);
#endif
  return j;
}
template <class Operation>
static inline ptrdiff_t scan_vectors(const float*, ptrdiff_t, float*, ptrdiff_t, int, int, int, int,
                                     int) {
  return 0;
}

// scan() of `lines` lines that are neighbours in x and in y, which must not overlap.
template <class Operation, class T>
static inline void scan_lines(const T* x, ptrdiff_t x_step, T* y, ptrdiff_t y_step, int n,
                              int lines, int exclusive, int reverse, int first) {
  const ptrdiff_t whole =
      scan_vectors<Operation>(x, x_step, y, y_step, n, lines, exclusive, reverse, first);
  x += whole;
  y += whole;
  lines -= static_cast<int>(whole);
  if (lines == 0) return;
  const T start = static_cast<T>(first);
  const T* so_far = &start;
  ptrdiff_t repeat = 0;
  for (int k = 0; k < n; ++k) {
    const ptrdiff_t forth = exclusive != 0 ? k - 1 : k;  // whose x is added
    const ptrdiff_t from = reverse != 0 ? n - 1 - forth : forth;
    T* const to = y + (reverse != 0 ? n - 1 - k : k) * y_step;
    if (forth < 0) {
      for (int j = 0; j < lines; ++j) to[j] = start;
    } else {
      combine<Operation>(so_far, repeat, x + from * x_step, 1, to, lines);
    }
    so_far = to;
    repeat = 1;
  }
}

}  // namespace rt
}  // namespace etch
