// Reductions over some axes: sums, means, extremes. Sums of floats have one order on every target,
// which vectors of any width can follow. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_elementwise.h"
#include "etch_float_lanes.h"

namespace etch {
namespace rt {

// The elements that make one result, in the order in which they are taken; steps count elements.
struct Reduced {
  int32_t n[3];
  ptrdiff_t step[3];
  bool in_order = false;  // floats are added in one partial sum, not in 16
};

// Of floats only: the sum over the count.
struct Mean {
  enum { kSums = 1, kDivides = 1 };
};
// Integers wrap.
struct Sum {
  enum { kSums = 1, kDivides = 0 };
  template <class T>
  ETCH_INLINE T start(T) {
    return 0;
  }
  template <class T>
  ETCH_INLINE T of(T sum, T x) {
    return Add::of(sum, x);
  }
};
struct Largest {
  enum { kSums = 0 };
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& most, const Floats<lanes>& x) {
    return larger(x, most);
  }
  template <class T>
  ETCH_INLINE T start(T first) {
    return first;
  }
  template <class T>
  ETCH_INLINE T of(T most, T x) {
    return most < x ? x : most;
  }
};
struct Smallest {
  enum { kSums = 0 };
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& least, const Floats<lanes>& x) {
    return smaller(x, least);
  }
  template <class T>
  ETCH_INLINE T start(T first) {
    return first;
  }
  template <class T>
  ETCH_INLINE T of(T least, T x) {
    return x < least ? x : least;
  }
};

// Calls visit(offset) for each element that makes one result, in order.
template <class Visit>
ETCH_INLINE void for_reduced(const Reduced& r, Visit visit) {
  for (int32_t a = 0; a < r.n[0]; ++a) {
    for (int32_t b = 0; b < r.n[1]; ++b) {
      const ptrdiff_t row = a * r.step[0] + b * r.step[1];
      for (int32_t c = 0; c < r.n[2]; ++c) visit(row + c * r.step[2]);
    }
  }
}

// `lanes` neighbouring results.
template <class Operation, int lanes>
ETCH_INLINE Floats<lanes> reduced(const Reduced& r, const float* x) {
  if constexpr (Operation::kSums != 0) {
    Floats<lanes> part[16];
    for (Floats<lanes>& each : part) each = all_lanes<lanes>(0.0f);
    uint32_t i = 0;
    for_reduced(r, [&](ptrdiff_t at) {
      part[i & 15u] = sum(part[i & 15u], load<lanes>(x + at));
      ++i;
    });
    return sum_of_lanes(part);
  } else {
    Floats<lanes> result = load<lanes>(x);
    for_reduced(r, [&](ptrdiff_t at) { result = Operation::of(result, load<lanes>(x + at)); });
    return result;
  }
}

// What is left to do with the sum of `count` elements.
template <class Operation, int lanes>
ETCH_INLINE Floats<lanes> finished(const Floats<lanes>& sum, float count) {
  if constexpr (Operation::kSums == 0) {
    return sum;
  } else {
    return Operation::kDivides != 0 ? quotient(sum, all_lanes<lanes>(count)) : sum;
  }
}

// ---- sums in order: one partial sum ----

template <int lanes, int count>
ETCH_INLINE void add_all(Columns<lanes, count>& sums, const float* x, ptrdiff_t step) {
  sums.first = sum(sums.first, load<lanes>(x));
  if constexpr (count > 1) add_all(sums.rest, x + step, step);
}

template <class Operation, int lanes, int count>
ETCH_INLINE void store_all(float* y, const Columns<lanes, count>& sums, float divisor) {
  store(y, finished<Operation>(sums.first, divisor));
  if constexpr (count > 1) store_all<Operation>(y + lanes, sums.rest, divisor);
}

// `count` vectors of results, of which the elements are `step` apart: side by side, so that each
// visit of a row takes whole cache lines and no sum waits for another one.
template <class Operation, int lanes, int count>
ETCH_INLINE void sums_in_order(const Reduced& r, const float* x, ptrdiff_t step, float* y,
                               float divisor) {
  Columns<lanes, count> sums;
  clear(sums);
  for_reduced(r, [&](ptrdiff_t at) { add_all(sums, x + at, step); });
  store_all<Operation>(y, sums, divisor);
}

template <class Operation>
ETCH_INLINE void reduce_in_order(const Reduced& r, const float* x, ptrdiff_t step, float* y,
                                 ptrdiff_t n, float divisor) {
  constexpr int kLanes = kFloatLanes;
  ptrdiff_t i = 0;
  if constexpr (kLanes > 1) {
    constexpr int kVectors = kLanes == 16 ? 4 : 8;
    for (; step == 1 && n - i >= kVectors * kLanes; i += kVectors * kLanes)
      sums_in_order<Operation, kLanes, kVectors>(r, x + i, kLanes, y + i, divisor);
    for (; step == 1 && n - i >= kLanes; i += kLanes)
      sums_in_order<Operation, kLanes, 1>(r, x + i, kLanes, y + i, divisor);
    for (; n - i >= 8; i += 8)
      sums_in_order<Operation, 1, 8>(r, x + i * step, step, y + i, divisor);
  }
  // With an index here g++ warns of an overflow that cannot be.
  x += i * step;
  y += i;
  for (ptrdiff_t left = n - i; left > 0; --left, x += step, ++y)
    sums_in_order<Operation, 1, 1>(r, x, step, y, divisor);
}

// ---- rows ----

// The extreme of n > 0 neighbouring floats. Equal zeros are of the sign that came first; NaN is the
// result where it comes first and passed over elsewhere, so the lanes begin with the first element.
template <class Operation>
ETCH_INLINE float extreme_of_row(const float* x, int32_t n) {
  constexpr int kLanes = kFloatLanes;
  if (is_nan(x[0])) return x[0];
  Floats<kLanes> extreme = all_lanes<kLanes>(x[0]);
  int32_t i = 0;
  for (; n - i >= kLanes; i += kLanes) extreme = Operation::of(extreme, load<kLanes>(x + i));
  float part[static_cast<size_t>(kLanes)];
  store(part, extreme);
  float result = x[0];
  for (const float each : part) result = Operation::of(result, each);
  for (; i < n; ++i) result = Operation::of(result, x[i]);
  if (float_bits(result) << 1 != 0u) return result;
  for (i = 0; !(x[i] == 0.0f);) ++i;
  return x[i];
}

template <class Operation>
ETCH_INLINE float reduced_row(const float* x, int32_t n) {
  if constexpr (Operation::kSums != 0) {
    return sum_of_row(x, n, [](const auto& each) { return each; });
  } else {
    return extreme_of_row<Operation>(x, n);
  }
}

// The sum of rows of neighbours whose length is a multiple of 16, so that each begins with the
// first partial sum.
ETCH_INLINE float sum_of_rows(const Reduced& r, const float* x) {
  PartialSums<kFloatLanes> sums;
  for (Floats<kFloatLanes>& each : sums.v) each = all_lanes<kFloatLanes>(0.0f);
  for (int32_t a = 0; a < r.n[0]; ++a) {
    for (int32_t b = 0; b < r.n[1]; ++b) {
      const float* const row = x + a * r.step[0] + b * r.step[1];
      for (int32_t c = 0; c < r.n[2]; c += 16)
        add_block<0>(sums, row + c, [](const auto& each) { return each; });
    }
  }
  return sum_of_lanes(sums);
}

// y[i] = the reduction of the elements from x + i * step on. Floats are added in order, or in 16
// partial sums: element i to partial sum i mod 16, which sum_of_lanes() adds.
template <class Operation>
static inline void reduce(const Reduced& r, const float* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  const float count = static_cast<float>(static_cast<int64_t>(r.n[0]) * r.n[1] * r.n[2]);
  if constexpr (Operation::kSums != 0) {
    if (r.in_order) return reduce_in_order<Operation>(r, x, step, y, n, count);
  }
  const bool is_row = r.n[0] == 1 && r.n[1] == 1 && r.step[2] == 1;
  if (is_row && r.n[2] > 1) {
    for (ptrdiff_t i = 0; i < n; ++i, x += step)
      y[i] = finished<Operation, 1>({reduced_row<Operation>(x, r.n[2])}, count).v;
    return;
  }
  if constexpr (kFloatLanes > 1 && Operation::kSums != 0) {
    if (r.step[2] == 1 && r.n[2] % 16 == 0) {
      for (ptrdiff_t i = 0; i < n; ++i, x += step)
        y[i] = finished<Operation, 1>({sum_of_rows(r, x)}, count).v;
      return;
    }
  }
  const ptrdiff_t whole = kFloatLanes > 1 && step == 1 ? n - n % kFloatLanes : 0;
  for (ptrdiff_t i = 0; i < whole; i += kFloatLanes)
    store(y + i, finished<Operation>(reduced<Operation, kFloatLanes>(r, x + i), count));
  for (ptrdiff_t i = whole; i < n; ++i)
    y[i] = finished<Operation>(reduced<Operation, 1>(r, x + i * step), count).v;
}

// Of integers: four results at a time, which do not wait for each other.
template <class Operation, class T>
static inline void reduce(const Reduced& r, const T* x, ptrdiff_t step, T* y, ptrdiff_t n) {
  ptrdiff_t i = 0;
  for (; i + 4 <= n; i += 4, x += 4 * step) {
    T a = Operation::start(x[0]), b = Operation::start(x[step]);
    T c = Operation::start(x[2 * step]), d = Operation::start(x[3 * step]);
    for_reduced(r, [&](ptrdiff_t at) {
      a = Operation::of(a, x[at]);
      b = Operation::of(b, x[at + step]);
      c = Operation::of(c, x[at + 2 * step]);
      d = Operation::of(d, x[at + 3 * step]);
    });
    y[i] = a;
    y[i + 1] = b;
    y[i + 2] = c;
    y[i + 3] = d;
  }
  for (; i < n; ++i, x += step) {
    T result = Operation::start(*x);
    for_reduced(r, [&](ptrdiff_t at) { result = Operation::of(result, x[at]); });
    y[i] = result;
  }
}

}  // namespace rt
}  // namespace etch
