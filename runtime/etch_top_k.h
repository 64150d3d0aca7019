// The best elements of a row with their positions. The positions found so far form a heap in the
// output's own memory, with the worst at its root, which is sorted at the end: no memory besides,
// and time in proportion to n log k. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_extreme.h"
#include "etch_select.h"

namespace etch {
namespace rt {

static inline bool no_number(float value) { return is_nan(value); }
template <class Int>
static inline bool no_number(Int) {
  return false;
}

// Elements x[0], x[step], ... by position.
template <class Better, class T>
struct Ranking {
  const T* x;
  ptrdiff_t step;
  Stored as;
};

// Whether element i goes before element j; NaN goes last, and of equals the one that comes first.
template <class Better, class T>
static inline bool before(const Ranking<Better, T>& r, int64_t i, int64_t j) {
  const auto a = element(r.x[static_cast<ptrdiff_t>(i) * r.step], r.as);
  const auto b = element(r.x[static_cast<ptrdiff_t>(j) * r.step], r.as);
  if (Better::of(a, b)) return true;
  if (Better::of(b, a)) return false;
  if (no_number(a) != no_number(b)) return no_number(b);
  return i < j;
}

// Puts `position` into a heap of n at `place`, which is free, or below it: no parent goes before
// its children.
template <class Better, class T>
static inline void settle(const Ranking<Better, T>& r, int64_t* heap, ptrdiff_t step, int32_t n,
                          int32_t place, int64_t position) {
  for (int32_t child = 2 * place + 1; child < n; child = 2 * place + 1) {
    if (child + 1 < n && before(r, heap[child * step], heap[(child + 1) * step])) ++child;
    if (!before(r, position, heap[child * step])) break;
    heap[place * step] = heap[child * step];
    place = child;
  }
  heap[place * step] = position;
}

// y and positions: the k best of n elements of x, best first, 1 <= k <= n.
template <class Better, class T>
static inline void top_k(const T* x, ptrdiff_t x_step, Stored x_as, int32_t n, T* y,
                         ptrdiff_t y_step, Stored y_as, int64_t* positions, ptrdiff_t step,
                         int32_t k) {
  const Ranking<Better, T> ranking{x, x_step, x_as};
  for (int32_t i = 0; i < k; ++i) positions[i * step] = i;
  for (int32_t i = k / 2; i-- > 0;) settle(ranking, positions, step, k, i, positions[i * step]);
  for (int32_t i = k; i < n; ++i) {
    if (before(ranking, i, positions[0])) settle(ranking, positions, step, k, 0, i);
  }
  for (int32_t left = k - 1; left > 0; --left) {  // the worst of those left goes to their end
    const int64_t last = positions[left * step];
    positions[left * step] = positions[0];
    settle(ranking, positions, step, left, 0, last);
  }
  for (int32_t i = 0; i < k; ++i) {
    y[i * y_step] = rekept(x[static_cast<ptrdiff_t>(positions[i * step]) * x_step], x_as, y_as);
  }
}

}  // namespace rt
}  // namespace etch
