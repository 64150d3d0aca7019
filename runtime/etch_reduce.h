// Reductions over some axes: sums, means, products, extremes. Sums and products of floats have one
// order on every target, which vectors of any width can follow; integers wrap, so that theirs may
// have any. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_elementwise.h"
#include "etch_float_lanes.h"
#include "etch_float_sums.h"

namespace etch {
namespace rt {

// The elements that make one result, in the order in which they are taken; steps count elements.
struct Reduced {
  int32_t n[3];
  ptrdiff_t step[3];
  bool in_order = false;  // floats are combined in one partial result, not in 16
};

// Of floats only: the sum over the count.
struct Mean : Summed {
  enum { kFolds = 1, kDivides = 1, kStart = 0 };
};
// Integers wrap.
struct Sum : Summed {
  enum { kFolds = 1, kDivides = 0, kStart = 0 };
  template <class T>
  ETCH_INLINE T of(T sum, T x) {
    return Add::of(sum, x);
  }
  template <class Vector>
  ETCH_INLINE Vector of_lanes(Vector sum, Vector x) {
    return sum + x;
  }
};
struct Product {
  enum { kFolds = 1, kDivides = 0, kStart = 1 };
  template <int lanes>
  ETCH_INLINE Floats<lanes> folded(const Floats<lanes>& a, const Floats<lanes>& b) {
    return product(a, b);
  }
  template <class T>
  ETCH_INLINE T of(T product, T x) {
    return Mul::of(product, x);
  }
  template <class Vector>
  ETCH_INLINE Vector of_lanes(Vector product, Vector x) {
    return product * x;
  }
};
struct Largest {
  enum { kFolds = 0, kIsLargest = 1 };
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& most, const Floats<lanes>& x) {
    return larger(x, most);
  }
  template <class T>
  ETCH_INLINE T of(T most, T x) {
    return most < x ? x : most;
  }
  template <class Vector>
  ETCH_INLINE Vector of_lanes(Vector most, Vector x) {
    return most < x ? x : most;
  }
};
struct Smallest {
  enum { kFolds = 0, kIsLargest = 0 };
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& least, const Floats<lanes>& x) {
    return smaller(x, least);
  }
  template <class T>
  ETCH_INLINE T of(T least, T x) {
    return x < least ? x : least;
  }
  template <class Vector>
  ETCH_INLINE Vector of_lanes(Vector least, Vector x) {
    return x < least ? x : least;
  }
};

// What a result begins with: where that is no number of its own, the first element.
template <class Operation, class T>
ETCH_INLINE T start(T first) {
  if constexpr (Operation::kFolds != 0) {
    return Operation::kStart;
  } else {
    return first;
  }
}

// Calls visit(offset) for the first element of each row of r.n[2], in order.
template <class Visit>
ETCH_INLINE void for_rows(const Reduced& r, Visit visit) {
  for (int32_t a = 0; a < r.n[0]; ++a) {
    for (int32_t b = 0; b < r.n[1]; ++b) visit(a * r.step[0] + b * r.step[1]);
  }
}

// Calls visit(offset) for each element that makes one result, in order.
template <class Visit>
ETCH_INLINE void for_reduced(const Reduced& r, Visit visit) {
  for_rows(r, [&](ptrdiff_t row) {
    for (int32_t c = 0; c < r.n[2]; ++c) visit(row + c * r.step[2]);
  });
}

// ---- floats: neighbouring results ----

// `lanes` neighbouring results.
template <class Operation, int lanes>
ETCH_INLINE Floats<lanes> reduced(const Reduced& r, const float* x) {
  if constexpr (Operation::kFolds != 0) {
    Floats<lanes> part[16];
    for (Floats<lanes>& each : part) each = all_lanes<lanes>(Operation::kStart);
    uint32_t i = 0;
    for_reduced(r, [&](ptrdiff_t at) {
      part[i & 15u] = Operation::folded(part[i & 15u], load<lanes>(x + at));
      ++i;
    });
    return fold_lanes<Operation>(part);
  } else {
    Floats<lanes> result = load<lanes>(x);
    for_reduced(r, [&](ptrdiff_t at) { result = Operation::of(result, load<lanes>(x + at)); });
    return result;
  }
}

// What is left to do with the result of `count` elements.
template <class Operation, int lanes>
ETCH_INLINE Floats<lanes> finished(const Floats<lanes>& result, float count) {
  if constexpr (Operation::kFolds == 0) {
    return result;
  } else {
    return Operation::kDivides != 0 ? quotient(result, all_lanes<lanes>(count)) : result;
  }
}

// ---- floats in order: one partial result ----

template <class Operation, int lanes, int count>
ETCH_INLINE void start_all(Columns<lanes, count>& results) {
  results.first = all_lanes<lanes>(Operation::kStart);
  if constexpr (count > 1) start_all<Operation>(results.rest);
}

template <class Operation, int lanes, int count>
ETCH_INLINE void fold_all(Columns<lanes, count>& results, const float* x, ptrdiff_t step) {
  results.first = Operation::folded(results.first, load<lanes>(x));
  if constexpr (count > 1) fold_all<Operation>(results.rest, x + step, step);
}

template <class Operation, int lanes, int count>
ETCH_INLINE void store_all(float* y, const Columns<lanes, count>& results, float divisor) {
  store(y, finished<Operation>(results.first, divisor));
  if constexpr (count > 1) store_all<Operation>(y + lanes, results.rest, divisor);
}

// `count` vectors of results, of which the elements are `step` apart: side by side, so that each
// visit of a row takes whole cache lines and no result waits for another one.
template <class Operation, int lanes, int count>
ETCH_INLINE void fold_in_order(const Reduced& r, const float* x, ptrdiff_t step, float* y,
                               float divisor) {
  Columns<lanes, count> results;
  start_all<Operation>(results);
  for_reduced(r, [&](ptrdiff_t at) { fold_all<Operation>(results, x + at, step); });
  store_all<Operation>(y, results, divisor);
}

template <class Operation>
ETCH_INLINE void reduce_in_order(const Reduced& r, const float* x, ptrdiff_t step, float* y,
                                 ptrdiff_t n, float divisor) {
  constexpr int kLanes = kFloatLanes;
  ptrdiff_t i = 0;
  if constexpr (kLanes > 1) {
    constexpr int kVectors = kLanes == 16 ? 4 : 8;
    for (; step == 1 && n - i >= kVectors * kLanes; i += kVectors * kLanes)
      fold_in_order<Operation, kLanes, kVectors>(r, x + i, kLanes, y + i, divisor);
    for (; step == 1 && n - i >= kLanes; i += kLanes)
      fold_in_order<Operation, kLanes, 1>(r, x + i, kLanes, y + i, divisor);
    for (; n - i >= 8; i += 8)
      fold_in_order<Operation, 1, 8>(r, x + i * step, step, y + i, divisor);
  }
  // With an index here g++ warns of an overflow that cannot be.
  x += i * step;
  y += i;
  for (ptrdiff_t left = n - i; left > 0; --left, x += step, ++y)
    fold_in_order<Operation, 1, 1>(r, x, step, y, divisor);
}

// ---- floats: rows of neighbouring elements ----

template <class Operation, int lanes>
ETCH_INLINE float combine_lanes(const Floats<lanes>& x) {
  float each[static_cast<size_t>(lanes)];
  store(each, x);
  if constexpr (lanes == 1) {
    return each[0];
  } else if constexpr (lanes == 4) {
    return Operation::of(Operation::of(each[0], each[1]), Operation::of(each[2], each[3]));
  } else {
    Floats<lanes / 2> half[2];
    ETCH_MEMCPY(half, &x, sizeof x);
    return combine_lanes<Operation>(Operation::of(half[0], half[1]));
  }
}

// The extreme of rows whose first element is a number; NaN is passed over.
template <class Operation>
ETCH_INLINE float extreme_number_of_rows(const Reduced& r, const float* x) {
  constexpr int kLanes = kFloatLanes;
  const int32_t n = r.n[2];
  float result = x[0];
#if defined(ETCH_LIMITS_KEEP_NAN)
  if (n >= 16) {
    float limit = result;
    for_rows(r, [&](ptrdiff_t at) {
      limit = limit_of_row<Operation::kIsLargest != 0>(x + at, n, limit);
    });
    if (!is_nan(limit)) return limit;
  }
#endif
  Floats<kLanes> extreme = all_lanes<kLanes>(result);
  for_rows(r, [&](ptrdiff_t at) {
    const float* const row = x + at;
    int32_t i = 0;
    for (; n - i >= kLanes; i += kLanes) extreme = Operation::of(extreme, load<kLanes>(row + i));
    if (i == n) return;
    if (i > 0) {  // the last vector takes some elements again
      extreme = Operation::of(extreme, load<kLanes>(row + n - kLanes));
    } else {
      for (; i < n; ++i) result = Operation::of(result, row[i]);
    }
  });
  return Operation::of(result, combine_lanes<Operation>(extreme));
}

// The extreme of rows. Equal zeros are of the sign that came first; NaN is the result where it
// comes first and passed over elsewhere.
template <class Operation>
ETCH_INLINE float extreme_of_rows(const Reduced& r, const float* x) {
  if (is_nan(x[0])) return x[0];
  float result = extreme_number_of_rows<Operation>(r, x);
  if (float_bits(result) << 1 != 0u) return result;
  uint32_t found = 0;
  for_reduced(r, [&](ptrdiff_t at) {
    if (found != 0u || !(x[at] == 0.0f)) return;
    found = 1;
    result = x[at];
  });
  return result;
}

// Block k of 16 elements that are all there, and those after it.
template <class Operation, int k, int lanes>
ETCH_INLINE void fold_block(PartialSums<lanes>& parts, const float* x) {
  parts.v[k] = Operation::folded(parts.v[k], load<lanes>(x));
  if constexpr (k + 1 < 16 / lanes) fold_block<Operation, k + 1>(parts, x + lanes);
}

template <class Operation>
ETCH_INLINE void fold_one(float& part, float x) {
  part = Operation::folded(Floats<1>{part}, Floats<1>{x}).v;
}

// Rows in 16 partial results: where one ends, the next goes on.
template <class Operation>
ETCH_INLINE float fold_rows(const Reduced& r, const float* x) {
  constexpr int kLanes = kFloatLanes;
  float part[16];
  for (float& each : part) each = Operation::kStart;
  int32_t next = 0;
  for_rows(r, [&](ptrdiff_t at) {
    const float* const row = x + at;
    int32_t i = 0;
    for (; next != 0 && i < r.n[2]; ++i, next = (next + 1) & 15)
      fold_one<Operation>(part[next], row[i]);
    if (r.n[2] - i >= 16) {
      PartialSums<kLanes> parts;
      ETCH_MEMCPY(&parts, part, sizeof part);
      for (; r.n[2] - i >= 16; i += 16) fold_block<Operation, 0>(parts, row + i);
      ETCH_MEMCPY(part, &parts, sizeof part);
    }
    for (; i < r.n[2]; ++i, ++next) fold_one<Operation>(part[next], row[i]);
  });
  Floats<1> all[16];
  for (int i = 0; i < 16; ++i) all[i].v = part[i];
  return fold_lanes<Operation>(all).v;
}

template <class Operation>
ETCH_INLINE float reduced_rows(const Reduced& r, const float* x) {
  if constexpr (Operation::kFolds == 0) {
    return extreme_of_rows<Operation>(r, x);
  } else {
    if constexpr (Operation::kStart == 0) {
      if (r.n[0] == 1 && r.n[1] == 1)
        return sum_of_row(x, r.n[2], [](const auto& each) { return each; });
    }
    return fold_rows<Operation>(r, x);
  }
}

// y[i] = the reduction of the elements from x + i * step on. Floats are combined in order, or in 16
// partial results: element i in partial result i mod 16, which fold_lanes() combines.
template <class Operation>
static inline void reduce(const Reduced& r, const float* x, ptrdiff_t step, float* y, ptrdiff_t n) {
  const float count = static_cast<float>(static_cast<int64_t>(r.n[0]) * r.n[1] * r.n[2]);
  if constexpr (Operation::kFolds != 0) {
    if (r.in_order) return reduce_in_order<Operation>(r, x, step, y, n, count);
  }
  if (r.step[2] == 1 && r.n[2] > 1) {
    for (ptrdiff_t i = 0; i < n; ++i, x += step)
      y[i] = finished<Operation, 1>({reduced_rows<Operation>(r, x)}, count).v;
    return;
  }
  const ptrdiff_t whole = kFloatLanes > 1 && step == 1 ? n - n % kFloatLanes : 0;
  for (ptrdiff_t i = 0; i < whole; i += kFloatLanes)
    store(y + i, finished<Operation>(reduced<Operation, kFloatLanes>(r, x + i), count));
  for (ptrdiff_t i = whole; i < n; ++i)
    y[i] = finished<Operation>(reduced<Operation, 1>(r, x + i * step), count).v;
}

// ---- integers ----

// As what integers are combined: sums and products without a sign, because they wrap.
template <bool folds, class T>
struct Combined {
  using Type = T;
};
template <>
struct Combined<true, int32_t> {
  using Type = uint32_t;
};
template <>
struct Combined<true, int64_t> {
  using Type = uint64_t;
};

#if defined(__GNUC__)
template <class T, size_t bytes>
struct Pack {
  typedef T Vector __attribute__((vector_size(bytes)));
  Vector v;
};

// By way of a vector: a struct is copied in halves by gcc, and a load of the whole then waits for
// both stores.
template <class T, size_t bytes>
ETCH_INLINE Pack<T, bytes> load_pack(const void* p) {
  typename Pack<T, bytes>::Vector v;
  ETCH_MEMCPY(&v, p, sizeof v);
  return {v};
}

template <class Operation, class T, size_t bytes>
ETCH_INLINE T combine_lanes(const Pack<T, bytes>& x) {
  if constexpr (bytes == sizeof(T)) {
    return x.v[0];
  } else {
    Pack<T, bytes / 2> half[2];
    ETCH_MEMCPY(half, &x, sizeof x);
    return combine_lanes<Operation>(Pack<T, bytes / 2>{Operation::of_lanes(half[0].v, half[1].v)});
  }
}

// Rows of neighbouring elements, at least `bytes` each.
template <class Operation, size_t bytes, class T>
ETCH_INLINE T combined_rows(const Reduced& r, const T* x) {
  using Element = typename Combined<Operation::kFolds != 0, T>::Type;
  constexpr int32_t kLanes = bytes / sizeof(T);
  const int32_t n = r.n[2];
  T result = start<Operation>(x[0]);
  Pack<Element, bytes> all;
  for (int32_t i = 0; i < kLanes; ++i) all.v[i] = static_cast<Element>(result);
  for_rows(r, [&](ptrdiff_t at) {
    const T* const row = x + at;
    int32_t i = 0;
    for (; n - i >= kLanes; i += kLanes)
      all.v = Operation::of_lanes(all.v, load_pack<Element, bytes>(row + i).v);
    if (i == n) return;
    if constexpr (Operation::kFolds == 0) {  // the last vector takes some elements again
      all.v = Operation::of_lanes(all.v, load_pack<Element, bytes>(row + n - kLanes).v);
    } else {
      for (; i < n; ++i) result = Operation::of(result, row[i]);
    }
  });
  return Operation::of(result, static_cast<T>(combine_lanes<Operation>(all)));
}

// As many neighbouring results as `bytes` hold.
template <class Operation, size_t bytes, class T>
ETCH_INLINE void combine_columns(const Reduced& r, const T* x, T* y) {
  using Element = typename Combined<Operation::kFolds != 0, T>::Type;
  Pack<Element, bytes> all;
  if constexpr (Operation::kFolds != 0) {
    all.v = static_cast<Element>(Operation::kStart) - typename Pack<Element, bytes>::Vector{};
  } else {
    all = load_pack<Element, bytes>(x);
  }
  for_reduced(r, [&](ptrdiff_t at) {
    all.v = Operation::of_lanes(all.v, load_pack<Element, bytes>(x + at).v);
  });
  const typename Pack<Element, bytes>::Vector results = all.v;
  ETCH_MEMCPY(y, &results, sizeof results);
}

// reduce() of integers as far as vectors take it: how many results are stored.
template <class Operation, class T>
ETCH_INLINE ptrdiff_t reduce_packs(const Reduced& r, const T* x, ptrdiff_t step, T* y,
                                   ptrdiff_t n) {
  constexpr size_t kBytes = 4 * static_cast<size_t>(kFloatLanes);
  constexpr ptrdiff_t kLanes = kBytes / sizeof(T);
  if (r.step[2] == 1 && r.n[2] >= static_cast<ptrdiff_t>(16 / sizeof(T))) {
    for (ptrdiff_t i = 0; i < n; ++i) {
      y[i] = r.n[2] >= kLanes ? combined_rows<Operation, kBytes>(r, x + i * step)
                              : combined_rows<Operation, 16>(r, x + i * step);
    }
    return n;
  }
  const ptrdiff_t whole = step == 1 ? n - n % kLanes : 0;
  for (ptrdiff_t i = 0; i < whole; i += kLanes) combine_columns<Operation, kBytes>(r, x + i, y + i);
  return whole;
}
#endif

// Of integers: four results at a time, which do not wait for each other.
template <class Operation, class T>
static inline void reduce(const Reduced& r, const T* x, ptrdiff_t step, T* y, ptrdiff_t n) {
  ptrdiff_t i = 0;
#if defined(__GNUC__)
  if constexpr (kFloatLanes > 1) i = reduce_packs<Operation>(r, x, step, y, n);
  x += i * step;
#endif
  for (; i + 4 <= n; i += 4, x += 4 * step) {
    T a = start<Operation>(x[0]), b = start<Operation>(x[step]);
    T c = start<Operation>(x[2 * step]), d = start<Operation>(x[3 * step]);
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
    T result = start<Operation>(*x);
    for_reduced(r, [&](ptrdiff_t at) { result = Operation::of(result, x[at]); });
    y[i] = result;
  }
}

}  // namespace rt
}  // namespace etch
