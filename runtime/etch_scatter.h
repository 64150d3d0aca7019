// Writing at indices that are known at run time only, running sums and products along an axis.
// C++17, freestanding, no heap, no state. Whatever the indices are, they are limited to the rows
// that there are, so that nothing is written elsewhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

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

// y = x, `size` rows of `width` elements; then for i from 0 to count - 1 in order row indices[i] of
// y is combined with row i of the updates.
template <class Operation, class T>
static inline void scatter(const T* x, const int64_t* indices, const T* updates, T* y, int size,
                           int width, int count) {
  const ptrdiff_t row = width;
  ETCH_MEMCPY(y, x, static_cast<size_t>(size * row) * sizeof(T));
  for (int i = 0; i < count; ++i) {
    T* to = y + position_of(indices[i], size) * row;
    for (ptrdiff_t k = 0; k < row; ++k) to[k] = Operation::of(to[k], updates[i * row + k]);
  }
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

}  // namespace rt
}  // namespace etch
