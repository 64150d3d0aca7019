// The position of the largest or smallest element along an axis: in rows first the extreme and then
// where it is, in columns several neighbours at a time. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_any_bit.h"
#include "etch_convert.h"
#include "etch_reduce.h"

namespace etch {
namespace rt {

struct Above {
  using Extreme = Largest;
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a > b;
  }
  template <class Vector>
  ETCH_INLINE auto of_lanes(Vector a, Vector b) {
    return a > b;
  }
};
struct Below {
  using Extreme = Smallest;
  template <class T>
  ETCH_INLINE bool of(T a, T b) {
    return a < b;
  }
  template <class Vector>
  ETCH_INLINE auto of_lanes(Vector a, Vector b) {
    return a < b;
  }
};

#if defined(__GNUC__)
// Where the first or last of n elements is that equals `value`; there is one.
template <size_t bytes, class T>
ETCH_INLINE int32_t place_of(const T* x, int32_t n, T value, bool is_last) {
  constexpr int32_t kLanes = bytes / sizeof(T);
  Pack<T, bytes> wanted;
  for (int32_t i = 0; i < kLanes; ++i) wanted.v[i] = value;
  const auto is_in = [&](int32_t at) { return is_any(load_pack<T, bytes>(x + at).v == wanted.v); };
  if (is_last) {
    while (n >= kLanes && !is_in(n - kLanes)) n -= kLanes;
    while (!(x[n - 1] == value)) --n;
    return n - 1;
  }
  int32_t at = 0;
  while (n - at >= kLanes && !is_in(at)) at += kLanes;
  while (!(x[at] == value)) ++at;
  return at;
}

template <class T>
struct IsFloat {
  enum { kYes = 0 };
};
template <>
struct IsFloat<float> {
  enum { kYes = 1 };
};

// The position in a row of n elements, at least `bytes`.
template <class Better, size_t bytes, class T>
ETCH_INLINE int32_t place_in_row(const T* x, int32_t n, bool is_last) {
  const Reduced row{{1, 1, n}, {0, 0, 1}};
  if constexpr (IsFloat<T>::kYes != 0) {
    if (is_nan(x[0])) return 0;
    return place_of<bytes>(x, n, extreme_of_rows<typename Better::Extreme>(row, x), is_last);
  } else {
    return place_of<bytes>(x, n, combined_rows<typename Better::Extreme, bytes>(row, x), is_last);
  }
}

// Positions for neighbouring columns, which begin at x.
template <class Better, int lanes, class T>
ETCH_INLINE void places_in_columns(const T* x, Stored as, int32_t count, ptrdiff_t step,
                                   bool is_last, int64_t* y) {
  auto best = load_elements<lanes>(x, as);
  Ints<lanes> place{best.v != best.v};
  place.v = place.v ^ place.v;
  for (int32_t k = 1; k < count; ++k) {
    const auto value = load_elements<lanes>(x + k * step, as);
    auto better = Better::of_lanes(value.v, best.v);
    if (is_last) better |= value.v == best.v;
    best.v = better ? value.v : best.v;
    place.v = better ? place.v - place.v + k : place.v;
  }
  int32_t each[static_cast<size_t>(lanes)];
  ETCH_MEMCPY(each, &place, sizeof each);
  for (int i = 0; i < lanes; ++i) y[i] = each[i];
}

// arg_extreme() as far as vectors take it: how many results are stored.
template <class Better, class T>
ETCH_INLINE ptrdiff_t places_by_vectors(const T* x, ptrdiff_t x_step, Stored as, int32_t count,
                                        ptrdiff_t step, bool is_last, int64_t* y, ptrdiff_t n) {
  constexpr size_t kBytes = 4 * static_cast<size_t>(kFloatLanes);
  if (step == 1 && count >= static_cast<int32_t>(kBytes / sizeof(T))) {
    for (ptrdiff_t i = 0; i < n; ++i, x += x_step) {
      if constexpr (sizeof(T) == 1) {
        if (as.flip != 0) {  // in the order of integers with a sign
          const int8_t* const row = reinterpret_cast<const int8_t*>(x);
          y[i] = place_in_row<Better, kBytes>(row, count, is_last);
          continue;
        }
      }
      y[i] = place_in_row<Better, kBytes>(x, count, is_last);
    }
    return n;
  }
  if constexpr (sizeof(T) != 8) {
    const ptrdiff_t whole = x_step == 1 ? n - n % kFloatLanes : 0;
    for (ptrdiff_t i = 0; i < whole; i += kFloatLanes)
      places_in_columns<Better, kFloatLanes>(x + i, as, count, step, is_last, y + i);
    return whole;
  }
  return 0;
}
#endif

// y[i] = the position of the extreme among `count` elements from x + i * x_step on, `step` apart.
// NaN is extreme only where it comes first.
template <class Better, class T>
static inline void arg_extreme(const T* x, ptrdiff_t x_step, Stored as, int32_t count,
                               ptrdiff_t step, int32_t last_of_equals, int64_t* y, ptrdiff_t n) {
  ptrdiff_t whole = 0;
#if defined(__GNUC__)
  if constexpr (kFloatLanes > 1)
    whole = places_by_vectors<Better>(x, x_step, as, count, step, last_of_equals != 0, y, n);
#endif
  for (ptrdiff_t i = whole; i < n; ++i) {
    const T* const from = x + i * x_step;
    auto best = element(*from, as);
    int32_t at = 0;
    for (int32_t k = 1; k < count; ++k) {
      const auto value = element(from[k * step], as);
      if (Better::of(value, best) || (last_of_equals != 0 && value == best)) {
        best = value;
        at = k;
      }
    }
    y[i] = at;
  }
}

}  // namespace rt
}  // namespace etch
