// Sorting of different integers without branches that depend on them: whether an element is the
// lower one has no pattern, and each wrong guess of a CPU costs as much as many comparisons. Parts
// are divided as Quicksort does, and of few each goes where its count of lower ones says; after too
// many unlucky divisions the rest is sorted in a heap. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_vector.h"

#if defined(ETCH_FOUR_FLOATS)
#define ETCH_SORTED 1

namespace etch {
namespace rt {

// What is sorted without being divided, and the most of it; where vectors have two entries counting
// costs more.
constexpr int32_t kFewEntries = 16;
constexpr int32_t kMostEntries = kFloatLanes > 4 ? 32 : 16;

// Of `count` vectors and how many entries are lower than each of theirs. Nested rather than an
// array, so that each stays in a register.
typedef int64_t EntryVector __attribute__((vector_size(4 * kFloatLanes)));
template <int count>
struct Ranked {
  EntryVector entries, lower;
  Ranked<count - 1> rest;
};
template <>
struct Ranked<0> {};

template <int count>
ETCH_INLINE void load_entries(Ranked<count>& of, const int64_t* x) {
  if constexpr (count > 0) {
    ETCH_MEMCPY(&of.entries, x, sizeof of.entries);
    of.lower = EntryVector{};
    load_entries(of.rest, x + sizeof of.entries / 8);
  }
}

template <int count>
ETCH_INLINE void count_lower(Ranked<count>& of, const EntryVector& one) {
  if constexpr (count > 0) {
    of.lower -= reinterpret_cast<EntryVector>(of.entries > one);
    count_lower(of.rest, one);
  }
}

template <int count>
ETCH_INLINE void store_places(int64_t* place, const Ranked<count>& of) {
  if constexpr (count > 0) {
    ETCH_MEMCPY(place, &of.lower, sizeof of.lower);
    store_places(place + sizeof of.lower / 8, of.rest);
  }
}

// n <= most of them.
template <int32_t most>
static inline void sort_few(int64_t* x, int32_t n) {
  int64_t each[static_cast<size_t>(most)], place[static_cast<size_t>(most)];
  for (int32_t i = 0; i < n; ++i) each[i] = x[i];
  for (int32_t i = n; i < most; ++i) each[i] = INT64_MAX;
  Ranked<most * 8 / static_cast<int32_t>(sizeof(EntryVector))> of;
  load_entries(of, each);
  for (int32_t i = 0; i < n; ++i) count_lower(of, each[i] - EntryVector{});
  store_places(place, of);
  for (int32_t i = 0; i < n; ++i) x[place[i]] = each[i];
}

// The heap of n with the largest at its root, except what is at `place`.
static inline void sink(int64_t* x, int32_t n, int32_t place) {
  const int64_t put = x[place];
  for (int32_t child = 2 * place + 1; child < n; child = 2 * place + 1) {
    if (child + 1 < n && x[child] < x[child + 1]) ++child;
    if (put > x[child]) break;
    x[place] = x[child];
    place = child;
  }
  x[place] = put;
}

static inline void sort_as_heap(int64_t* x, int32_t n) {
  for (int32_t i = n / 2; i-- > 0;) sink(x, n, i);
  for (int32_t last = n - 1; last > 0; --last) {
    const int64_t greatest = x[0];
    x[0] = x[last];
    x[last] = greatest;
    sink(x, last, 0);
  }
}

// Puts those of n that are below one of the middle before it; returns where that one is.
static inline int32_t divide(int64_t* x, int32_t n) {
  const int32_t at[3] = {n / 4, n / 2, n - 1 - n / 4};
  const int64_t a = x[at[0]], b = x[at[1]], c = x[at[2]];
  const int32_t middle = (a < b) == (b < c) ? at[1] : ((b < a) == (a < c) ? at[0] : at[2]);
  const int64_t pivot = x[middle];
  x[middle] = x[n - 1];
  int32_t lower = 0;
  for (int32_t i = 0; i < n - 1; ++i) {
    const int64_t each = x[i];
    x[i] = x[lower];
    x[lower] = each;
    lower += each < pivot ? 1 : 0;
  }
  x[n - 1] = x[lower];
  x[lower] = pivot;
  return lower;
}

// Ascending. What waits is the larger part each time, so that there are few.
static inline void sort_entries(int64_t* x, int32_t n) {
  int64_t* first[32];
  int32_t count[32];
  int32_t waiting = 0;
  int64_t steps = int64_t{64} * n;  // of luck; a half at a time takes at most 28
  for (;;) {
    while (n > kMostEntries && steps > 0) {
      steps -= n;
      const int32_t lower = divide(x, n), rest = n - 1 - lower;
      const bool is_low_first = lower < rest;
      first[waiting] = is_low_first ? x + lower + 1 : x;
      count[waiting++] = is_low_first ? rest : lower;
      x = is_low_first ? x : x + lower + 1;
      n = is_low_first ? lower : rest;
    }
    if (n > kMostEntries) {
      sort_as_heap(x, n);
    } else if (n > kFewEntries) {
      sort_few<kMostEntries>(x, n);
    } else {
      sort_few<kFewEntries>(x, n);
    }
    if (waiting == 0) return;
    --waiting;
    x = first[waiting];
    n = count[waiting];
  }
}

// The lowest n of x, which has n, and more, which has m, both ascending: into x.
static inline void keep_lowest(int64_t* x, int32_t n, const int64_t* more, int32_t m) {
  int32_t take = 0;
  while (take < m && take < n && more[take] < x[n - 1 - take]) ++take;
  int32_t kept = n - take;
  for (int32_t i = n; take > 0; --i) {
    if (kept == 0) {
      ETCH_MEMCPY(x, more, static_cast<size_t>(take) * sizeof *x);
      return;
    }
    const int64_t a = x[kept - 1], b = more[take - 1];
    const bool is_kept = a > b;
    x[i - 1] = is_kept ? a : b;
    kept -= is_kept ? 1 : 0;
    take -= is_kept ? 0 : 1;
  }
}

}  // namespace rt
}  // namespace etch
#endif
