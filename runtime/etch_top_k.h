// The best elements of a row with their positions. An entry has an element's rank above its
// position, so that one comparison of integers says all; of 64-bit elements it is the position
// alone. The best so far are in the memory of the positions. Where there are vectors they are in
// order, and what is better than the worst is collected, sorted and merged; elsewhere they form a
// heap with the worst at its root, which is sorted at the end, in time in proportion to n log k.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_extreme.h"
#include "etch_select.h"
#include "etch_sorted.h"

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

// The entries of the k best, best first, by a heap.
template <class Better, class T>
static inline void rank_by_heap(const Ranking<Better, T>& ranking, int32_t n, int64_t* positions,
                                ptrdiff_t step, int32_t k) {
  for (int32_t i = 0; i < k; ++i) positions[i * step] = entry(ranking, i);
  for (int32_t i = k / 2; i-- > 0;) settle(ranking, positions, step, k, i, positions[i * step]);
  take_better(ranking, positions, step, k, k, n);
  for (int32_t left = k - 1; left > 0; --left) {  // the worst of those left goes to their end
    const int64_t last = positions[left * step];
    positions[left * step] = positions[0];
    settle(ranking, positions, step, left, 0, last);
  }
}

#if defined(ETCH_SORTED)
constexpr int32_t kCollected = 512;
constexpr int32_t kLeastSorted = 8;  // with fewer a heap has few steps, except for the best alone

// The ranks of elements from i on, at most kRanked; INT32_MAX of those that are not there.
template <class Better, class T>
ETCH_INLINE void ranks_at(const Ranking<Better, T>& r, int32_t i, int32_t n, int32_t* ranks) {
  if (r.step == 1 && n - i >= kRanked) {
    for (int32_t j = 0; j < kRanked; ++j) ranks[j] = rank_of<Better>(element(r.x[i + j], r.as));
  } else {
    for (int32_t j = 0; j < kRanked; ++j) ranks[j] = i + j < n ? rank_at(r, i + j) : INT32_MAX;
  }
}

// Those collected, in order, into the best so far, which are k or none; returns k.
static inline int32_t merge(int64_t* best, int32_t size, int32_t k, int64_t* more, int32_t count) {
  sort_entries(more, count);
  if (size == 0) {
    ETCH_MEMCPY(best, more, static_cast<size_t>(k) * sizeof *best);
  } else {
    keep_lowest(best, k, more, count);
  }
  return k;
}

// A rank that at least k elements have or go before, or INT32_MAX where they are too few to know
// one: of groups, half again as many as k, the k'th in the order of the best of each. Of many
// elements a quarter is enough, as few come through.
template <class Better, class T>
static inline int32_t limit_of(const Ranking<Better, T>& r, int32_t n, int32_t k, int64_t* memory) {
  const int32_t wanted = (k + k / 2 + kRanked - 1) / kRanked * kRanked;
  const int32_t groups = wanted < kCollected ? wanted : kCollected;
  if (n < 2 * groups || k > kCollected / 4 * 3) return INT32_MAX;
  const int32_t looked_at = n > 256 * groups ? n / 4 : n;
  int32_t best[kCollected], ranks[kRanked], to = 0;
  for (int32_t i = 0; i < groups; ++i) best[i] = INT32_MAX;
  for (int32_t i = 0; i < looked_at; i += kRanked) {
    ranks_at(r, i, n, ranks);
    for (int32_t j = 0; j < kRanked; ++j)
      best[to + j] = ranks[j] < best[to + j] ? ranks[j] : best[to + j];
    to = to + kRanked < groups ? to + kRanked : 0;
  }
  for (int32_t i = 0; i < groups; ++i) memory[i] = entry_of(best[i], i);
  sort_entries(memory, groups);
  return rank_in(memory[k - 1]);
}

// The entries of the k best, best first. What may be among them is collected, sorted and merged.
template <class Better, class T>
static inline void rank_in_order(const Ranking<Better, T>& r, int32_t n, int64_t* best, int32_t k) {
  int64_t more[kCollected];
  const int32_t limit = limit_of(r, n, k, more);
  const bool is_limited = limit != INT32_MAX;
  int32_t worst = limit, size = 0, enough = kCollected - kRanked;
  if (is_limited) {
    ++worst;
  } else {
    for (; size < k; ++size) best[size] = entry_of(rank_at(r, size), size);
    sort_entries(best, k);
    worst = rank_in(best[k - 1]);
    if (k < enough) enough = k < kRanked ? kRanked : k;
  }
  int32_t ranks[kRanked], count = 0;
  for (int32_t i = size; i < n; i += kRanked) {
    ranks_at(r, i, n, ranks);
    int32_t some = 0;
    for (int32_t j = 0; j < kRanked; ++j) some |= ranks[j] < worst ? 1 : 0;
    if (some == 0) continue;
    for (int32_t j = 0; j < kRanked; ++j) {
      more[count] = entry_of(ranks[j], i + j);
      count += ranks[j] < worst ? 1 : 0;
    }
    if (count <= enough) continue;
    size = merge(best, size, k, more, count);
    worst = rank_in(best[k - 1]);
    count = 0;
  }
  merge(best, size, k, more, count);
}

// The entry of the best alone.
template <class Better, class T>
static inline int64_t first_in_order(const Ranking<Better, T>& r, int32_t n) {
  int32_t best[kRanked], from[kRanked], ranks[kRanked];
  for (int32_t j = 0; j < kRanked; ++j) best[j] = INT32_MAX;
  for (int32_t j = 0; j < kRanked; ++j) from[j] = 0;
  for (int32_t i = 0; i < n; i += kRanked) {
    ranks_at(r, i, n, ranks);
    for (int32_t j = 0; j < kRanked; ++j) from[j] = ranks[j] < best[j] ? i : from[j];
    for (int32_t j = 0; j < kRanked; ++j) best[j] = ranks[j] < best[j] ? ranks[j] : best[j];
  }
  int64_t first = INT64_MAX;
  for (int32_t j = 0; j < kRanked; ++j) {
    const int64_t each = entry_of(best[j], from[j] + j);
    first = each < first ? each : first;
  }
  return first;
}

// Elements side by side, positions wherever they are.
template <class Better, class T>
static inline bool rank_neighbours(const Ranking<Better, T>& r, int32_t n, int64_t* positions,
                                   ptrdiff_t step, int32_t k) {
  if (k == 1) {
    positions[0] = first_in_order(r, n);
  } else if (step == 1) {
    rank_in_order(r, n, positions, k);
  } else {
    if (k > kCollected) return false;
    int64_t best[kCollected];
    rank_in_order(r, n, best, k);
    for (int32_t i = 0; i < k; ++i) positions[i * step] = best[i];
  }
  return true;
}

// The entries of the k best if it is worth the memory and possible; whether it was.
template <class Better, class T>
static inline bool rank_by_vectors(const Ranking<Better, T>& r, int32_t n, int64_t* positions,
                                   ptrdiff_t step, int32_t k) {
  if (r.step == 1) return rank_neighbours(r, n, positions, step, k);
  if (n > kCollected) return false;
  T row[kCollected];
  for (int32_t i = 0; i < n; ++i) row[i] = r.x[i * r.step];
  return rank_neighbours(Ranking<Better, T>{row, 1, r.as}, n, positions, step, k);
}
#endif

template <class Better, class T>
static inline void rank(const Ranking<Better, T>& r, int32_t n, int64_t* positions, ptrdiff_t step,
                        int32_t k) {
#if defined(ETCH_SORTED)
  if constexpr (sizeof(T) != 8) {
    const bool is_worth_it = n > kRanked && (k == 1 || k >= kLeastSorted);
    if (is_worth_it && rank_by_vectors(r, n, positions, step, k)) return;
  }
#endif
  rank_by_heap(r, n, positions, step, k);
}

// y and positions: the k best of n elements of x, best first, 1 <= k <= n.
template <class Better, class T>
static inline void top_k(const T* x, ptrdiff_t x_step, Stored x_as, int32_t n, T* y,
                         ptrdiff_t y_step, Stored y_as, int64_t* positions, ptrdiff_t step,
                         int32_t k) {
  rank(Ranking<Better, T>{x, x_step, x_as}, n, positions, step, k);
  for (int32_t i = 0; i < k; ++i) {
    const int32_t position = position_in<T>(positions[i * step]);
    positions[i * step] = position;
    y[i * y_step] = rekept(x[position * x_step], x_as, y_as);
  }
}

}  // namespace rt
}  // namespace etch
