// The best elements of a row with their positions. What was found so far forms a heap in the
// memory of the positions, with the worst at its root, which is sorted at the end: no memory
// besides, and time in proportion to n log k. An entry has an element's rank above its position,
// so that one comparison of integers says all; of 64-bit elements it is the position alone.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_extreme.h"
#include "etch_select.h"

namespace etch {
namespace rt {

// Elements x[0], x[step], ... by position.
template <class Better, class T>
struct Ranking {
  const T* x;
  ptrdiff_t step;
  Stored as;
};

static inline int32_t placed(Above, int32_t ordered) { return ~ordered; }
static inline int32_t placed(Below, int32_t ordered) { return ordered; }

// The better a value the lower; both zeros are one, and NaN comes last.
template <class Better>
static inline int32_t rank_of(float value) {
  const int32_t bits = static_cast<int32_t>(float_bits(value));
  const int32_t magnitude = bits & INT32_MAX;
  const int32_t ordered = bits < 0 ? -magnitude : magnitude;
  return magnitude > 0x7f800000 ? INT32_MAX : placed(Better{}, ordered);
}
template <class Better>
static inline int32_t rank_of(int32_t value) {
  return placed(Better{}, value);
}

template <class Better, class T>
static inline int32_t rank_at(const Ranking<Better, T>& r, int32_t i) {
  return rank_of<Better>(element(r.x[i * r.step], r.as));
}

static inline int64_t entry_of(int32_t rank, int32_t position) {
  return rank * (int64_t{1} << 32) + position;
}
static inline int32_t rank_in(int64_t entry) { return static_cast<int32_t>(entry >> 32); }

template <class Better, class T>
static inline int64_t entry(const Ranking<Better, T>& r, int32_t i) {
  if constexpr (sizeof(T) == 8) {
    return i;
  } else {
    return entry_of(rank_at(r, i), i);
  }
}

template <class T>
static inline int32_t position_in(int64_t entry) {
  return static_cast<int32_t>(entry & INT32_MAX);
}

// Whether an entry goes before another; of equals the one that comes first does.
template <class Better, class T>
static inline bool before(const Ranking<Better, T>& r, int64_t a, int64_t b) {
  if constexpr (sizeof(T) == 8) {
    const int64_t x = r.x[static_cast<ptrdiff_t>(a) * r.step];
    const int64_t y = r.x[static_cast<ptrdiff_t>(b) * r.step];
    return x == y ? a < b : Better::of(x, y);
  } else {
    return a < b;
  }
}

// Puts `put` into a heap of n at `place`, which is free, or below it: no parent goes before its
// children.
template <class Better, class T>
static inline void settle(const Ranking<Better, T>& r, int64_t* heap, ptrdiff_t step, int32_t n,
                          int32_t place, int64_t put) {
  for (int32_t child = 2 * place + 1; child < n; child = 2 * place + 1) {
    if (child + 1 < n) {
      child += before(r, heap[child * step], heap[(child + 1) * step]) ? 1 : 0;
    }
    if (!before(r, put, heap[child * step])) break;
    heap[place * step] = heap[child * step];
    place = child;
  }
  heap[place * step] = put;
}

constexpr int32_t kRanked = 16;  // elements at a time

// The ranks of kRanked elements from i. Whether one of them is below `worst`.
template <class Better, class T>
static inline bool some_below(const Ranking<Better, T>& r, int32_t i, int32_t worst,
                              int32_t* ranks) {
  const T* const x = r.x + i;
  int32_t some = 0;
  for (int32_t j = 0; j < kRanked; ++j) {
    ranks[j] = rank_of<Better>(element(x[j], r.as));
    some |= ranks[j] < worst ? 1 : 0;
  }
  return some != 0;
}

// Takes those of elements [first, n) into a heap of k that go before its worst; of elements side
// by side many are passed over together.
template <class Better, class T>
static inline void take_better(const Ranking<Better, T>& r, int64_t* heap, ptrdiff_t step,
                               int32_t k, int32_t first, int32_t n) {
  int32_t i = first;
  if constexpr (sizeof(T) != 8) {
    int32_t worst = rank_in(heap[0]);
    int32_t ranks[kRanked];
    for (; r.step == 1 && i + kRanked <= n; i += kRanked) {
      if (!some_below(r, i, worst, ranks)) continue;
      for (int32_t j = 0; j < kRanked; ++j) {
        if (ranks[j] >= worst) continue;
        settle(r, heap, step, k, 0, entry_of(ranks[j], i + j));
        worst = rank_in(heap[0]);
      }
    }
  }
  for (; i < n; ++i) {
    const int64_t put = entry(r, i);
    if (before(r, put, heap[0])) settle(r, heap, step, k, 0, put);
  }
}

// y and positions: the k best of n elements of x, best first, 1 <= k <= n.
template <class Better, class T>
static inline void top_k(const T* x, ptrdiff_t x_step, Stored x_as, int32_t n, T* y,
                         ptrdiff_t y_step, Stored y_as, int64_t* positions, ptrdiff_t step,
                         int32_t k) {
  const Ranking<Better, T> ranking{x, x_step, x_as};
  for (int32_t i = 0; i < k; ++i) positions[i * step] = entry(ranking, i);
  for (int32_t i = k / 2; i-- > 0;) settle(ranking, positions, step, k, i, positions[i * step]);
  take_better(ranking, positions, step, k, k, n);
  for (int32_t left = k - 1; left > 0; --left) {  // the worst of those left goes to their end
    const int64_t last = positions[left * step];
    positions[left * step] = positions[0];
    settle(ranking, positions, step, left, 0, last);
  }
  for (int32_t i = 0; i < k; ++i) {
    const int32_t position = position_in<T>(positions[i * step]);
    positions[i * step] = position;
    y[i * y_step] = rekept(x[position * x_step], x_as, y_as);
  }
}

}  // namespace rt
}  // namespace etch
