// Softmax and its logarithm, of dense rows and along any axis. Every result is ONNX Runtime's on
// x64 with AVX512F: element i is added to partial sum i mod 16 in ascending order, whatever the
// width of vectors. Its AVX2 kernel sums in 8 lanes and gives 0 where e^(x - maximum) is scaled by
// less than 2^-126, so there the last bits of a row can differ. C++17, freestanding, no heap, no
// state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_float_sums.h"
#include "etch_function_lanes.h"

namespace etch {
namespace rt {

// Rows of `n` elements, `step` apart in x and y; `rows` of them, `next` apart.
struct RowsShape {
  int32_t rows, n;
  ptrdiff_t x_next, x_step, y_next, y_step;
};

static constexpr float kLeastFloat = -0x1.fffffep+127f;

template <int lanes>
ETCH_INLINE float largest_lane(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return x.v;
  } else {
    Floats<narrower(lanes)> part[static_cast<size_t>(lanes / narrower(lanes))];
    ETCH_MEMCPY(part, &x, sizeof x);
    Floats<narrower(lanes)> most = larger(part[1], part[0]);
    for (int i = 2; i < lanes / narrower(lanes); ++i) most = larger(part[i], most);
    return largest_lane(most);
  }
}

// ---- rows without a result ----

// The exponential of the greatest element is 1. Where the sum of a row is less, it is 0 or NaN, and
// the row has no result: each element is one NaN, for machines differ in those that they compute.

static inline void store_no_result(float* y, ptrdiff_t step, int32_t n) {
  for (int32_t i = 0; i < n; ++i) y[i * step] = bits_float(0x7fc00000u);
}

// The same of neighbouring rows.
template <int lanes>
ETCH_INLINE void store_no_results(const RowsShape& s, float* y, const Floats<lanes>& sums) {
  if constexpr (lanes == 1) {
    if (!(sums.v >= 1.0f)) store_no_result(y, s.y_step, s.n);
  } else {
    const Floats<lanes> one = all_lanes<lanes>(1.0f);
    const Floats<lanes> without = choose(not_below(sums, one), all_lanes<lanes>(0.0f), one);
    if (largest_lane(without) == 0.0f) return;
    float each[static_cast<size_t>(lanes)];
    store(each, sums);
    for (int32_t row = 0; row < lanes; ++row)
      if (!(each[row] >= 1.0f)) store_no_result(y + row, s.y_step, s.n);
  }
}

#if defined(ETCH_NEON_FLOATS)
// The larger one of `most` and of the vectors of x; less where these are not exact. Returns how
// many elements there are in them.
ETCH_INLINE int32_t add_checked_limits(float& most, const float* x, int32_t n) {
  const uint32_t before = begin_check();
  Floats<4> all = all_lanes<4>(most);
  int32_t i = 0;
  for (; n - i >= 4; i += 4) all = larger(load<4>(x + i), all);
  if (!end_check(before)) return 0;
  float each[4];
  store(each, all);
  for (const float x_each : each) most = x_each > most ? x_each : most;
  return i;
}
#endif

// The largest of n floats; NaN elements are passed over, -FLT_MAX is the smallest result.
static inline float largest(const float* x, int32_t n) {
  constexpr int kLanes = kFloatLanes;
#if defined(ETCH_LIMITS_KEEP_NAN)
  if (n >= 16) {
    const float limit = limit_of_row<true>(x, n, kLeastFloat);
    if (!is_nan(limit)) return limit;
  }
#endif
  Floats<kLanes> most = all_lanes<kLanes>(kLeastFloat);
  int32_t i = 0;
#if defined(ETCH_NEON_FLOATS)
  i = add_checked_limits(most.v, x, n);
#endif
  for (; n - i >= kLanes; i += kLanes) most = larger(load<kLanes>(x + i), most);
  if (i != 0 && i < n) {  // the last vector takes some elements twice
    most = larger(load<kLanes>(x + n - kLanes), most);
    i = n;
  }
  float result = largest_lane(most);
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

#if defined(ETCH_ARM_LANES)
// The blocks of 16 elements that are all there: y = e^(x - maximum), added. Stored also where not
// needed.
template <bool stored>
ETCH_INLINE PartialSums<4> exp_and_add_all(const float* x, float* y, int32_t n,
                                           const Floats<4>& maximum) {
  PartialSums<4> sums;
  for (Floats<4>& each : sums.v) each = all_lanes<4>(0.0f);
  for (const float* const end = x + (n & ~15); x != end;)
    exponentials_of_block(x, y, maximum, sums.v);
  return sums;
}
#else
// Vector k of such a block, and those after it.
template <int k, bool stored, int lanes>
ETCH_INLINE void exp_and_add(PartialSums<lanes>& sums, const float* x, float* y,
                             const Floats<lanes>& maximum) {
  const Floats<lanes> e = exponentials_up_to_one(difference(load<lanes>(x), maximum));
  if constexpr (stored) store(y, e);
  sums.v[k] = sum(sums.v[k], e);
  if constexpr (k + 1 < 16 / lanes) exp_and_add<k + 1, stored>(sums, x + lanes, y + lanes, maximum);
}

template <bool stored, int lanes>
ETCH_INLINE PartialSums<lanes> exp_and_add_all(const float* x, float* y, int32_t n,
                                               const Floats<lanes>& maximum) {
  PartialSums<lanes> sums;
  for (Floats<lanes>& each : sums.v) each = all_lanes<lanes>(0.0f);
  if constexpr (lanes > 1) {
    for (int32_t i = 0; n - i >= 16; i += 16) exp_and_add<0, stored>(sums, x + i, y + i, maximum);
  }
  return sums;
}
#endif

// The last n < 16 elements, from partial sum k * lanes on.
template <int k, int lanes>
ETCH_INLINE void exp_and_add_some(PartialSums<lanes>& sums, const float* x, float* y, int32_t n,
                                  const Floats<lanes>& maximum) {
  if (n <= 0) return;
  const int32_t here = n < lanes ? n : lanes;
  const Floats<lanes> e = exponentials_up_to_one(difference(load_some<lanes>(x, 1, here), maximum));
  store_some(y, e, here);
  sums.v[k] = sum(sums.v[k], first_lanes(e, here, all_lanes<lanes>(0.0f)));
  if constexpr (k + 1 < 16 / lanes)
    exp_and_add_some<k + 1>(sums, x + lanes, y + lanes, n - lanes, maximum);
}

// y[i] = e^(x[i] - maximum), any value if not `stored`; returns the sum.
template <bool stored>
static inline float exp_and_sum(const float* x, float* y, int32_t n, float maximum) {
#if defined(ETCH_NEON_FLOATS)
  const auto single = [=](ptrdiff_t i) { return exp_f32(x[i] - maximum); };
  const auto vectors = [=](ptrdiff_t i) {
    return exponentials_up_to_one(difference(load<4>(x + i), all_lanes<4>(maximum)));
  };
  for (ptrdiff_t i = map_checked(n, y, vectors, single); i < n; ++i) y[i] = single(i);
  return sum_of_row(y, n, [](const auto& e) { return e; });
#else
  constexpr int kLanes = kFloatLanes;
  const Floats<kLanes> most = all_lanes<kLanes>(maximum);
  PartialSums<kLanes> sums = exp_and_add_all<stored>(x, y, n, most);
  if constexpr (kLanes > 1) {
    const int32_t i = n & ~15;
    exp_and_add_some<0>(sums, x + i, y + i, n - i, most);
  } else {
    for (int32_t i = 0; i < n; ++i) {
      y[i] = exp_f32(x[i] - maximum);
      sums.v[i & 15].v += y[i];
    }
  }
  return sum_of_lanes(sums);
#endif
}

// y[i] = fl(y[i] * scale)
static inline void scale_row(float* y, int32_t n, float scale) {
  if (!(scale <= 1.0f)) return store_no_result(y, 1, n);
  constexpr int kLanes = kFloatLanes;
  const Floats<kLanes> factor = all_lanes<kLanes>(scale);
  int32_t i = 0;
#if defined(ETCH_ARM_LANES)
  float* block = y;
  for (i = n & ~15; block != y + i;) scale_block(block, factor);
#endif
  for (; kLanes > 1 && n - i >= 4 * kLanes; i += 4 * kLanes) {
    const Floats<kLanes> a = load<kLanes>(y + i), b = load<kLanes>(y + i + kLanes);
    const Floats<kLanes> c = load<kLanes>(y + i + 2 * kLanes), d = load<kLanes>(y + i + 3 * kLanes);
    store(y + i, product(a, factor));
    store(y + i + kLanes, product(b, factor));
    store(y + i + 2 * kLanes, product(c, factor));
    store(y + i + 3 * kLanes, product(d, factor));
  }
#if defined(ETCH_NEON_FLOATS)
  i = static_cast<int32_t>(map_checked(
      n, y, [=](ptrdiff_t k) { return product(load<4>(y + k), all_lanes<4>(scale)); },
      [=](ptrdiff_t k) { return opaque(y[k] * scale); }));
#endif
  for (; n - i >= kLanes; i += kLanes) store(y + i, product(load<kLanes>(y + i), factor));
  for (; i < n; ++i) y[i] = opaque(y[i] * scale);
}

// ---- rows of at most 16 elements ----

template <int k, int lanes>
ETCH_INLINE Floats<lanes> load_short(PartialSums<lanes>& v, const float* x, int32_t n) {
  const Floats<lanes> least = all_lanes<lanes>(kLeastFloat);
  v.v[k] = least;
  if (n <= 0) return least;
  v.v[k] = n >= lanes ? load<lanes>(x) : first_lanes(load_some<lanes>(x, 1, n), n, least);
  if constexpr (k + 1 < 16 / lanes) {
    return larger(v.v[k], load_short<k + 1>(v, x + lanes, n - lanes));
  } else {
    return larger(v.v[k], least);
  }
}

template <int k, int lanes>
ETCH_INLINE void exp_short(PartialSums<lanes>& v, int32_t n, const Floats<lanes>& maximum) {
  const Floats<lanes> zero = all_lanes<lanes>(0.0f);
  const Floats<lanes> e = n > 0 ? exponentials_up_to_one(difference(v.v[k], maximum)) : zero;
  v.v[k] = n >= lanes ? e : first_lanes(e, n, zero);
  if constexpr (k + 1 < 16 / lanes) exp_short<k + 1>(v, n - lanes, maximum);
}

template <int k, int lanes>
ETCH_INLINE void store_short(float* y, const PartialSums<lanes>& v, int32_t n,
                             const Floats<lanes>& scale) {
  if (n <= 0) return;
  store_some(y, product(v.v[k], scale), n < lanes ? n : lanes);
  if constexpr (k + 1 < 16 / lanes) store_short<k + 1>(y + lanes, v, n - lanes, scale);
}

// One row of 1 to 16 elements, which registers hold.
template <int lanes>
ETCH_INLINE void softmax_short(const float* x, float* y, int32_t n) {
  PartialSums<lanes> v;
  for (Floats<lanes>& each : v.v) each = all_lanes<lanes>(0.0f);
  const float most = largest_lane(load_short<0>(v, x, n));
  exp_short<0>(v, n, all_lanes<lanes>(most));
  const float scale = 1.0f / sum_of_lanes(v);
  if (!(scale <= 1.0f)) return store_no_result(y, 1, n);
  store_short<0>(y, v, n, all_lanes<lanes>(scale));
}

// Rows of more than 16. The maximum of the next row and the factors of the one before are worked on
// beside the exponentials of a row, so that none waits for the lanes of another to be combined.
static inline void softmax_long(const float* x, float* y, int32_t rows, int32_t n) {
  float most = rows > 0 ? largest(x, n) : 0.0f;
  float scale = 0.0f;
  for (int32_t row = 0; row < rows; ++row, x += n, y += n) {
    const float next = row + 1 < rows ? largest(x + n, n) : 0.0f;
    const float sum = exp_and_sum<true>(x, y, n, most);
    if (row > 0) scale_row(y - n, n, scale);
    scale = 1.0f / sum;
    most = next;
  }
  if (rows > 0) scale_row(y - n, n, scale);
}

// Softmax of each of `rows` rows of `n` contiguous floats; y may be x. A row with NaN or +inf, or
// of -inf only, becomes NaN, 0x7fc00000.
static inline void softmax_f32(const float* x, float* y, int32_t rows, int32_t n) {
  if (kFloatLanes == 1 || n > 16) return softmax_long(x, y, rows, n);
  for (int32_t row = 0; row < rows; ++row, x += n, y += n) softmax_short<kFloatLanes>(x, y, n);
}

// ---- along any axis: neighbouring rows in lanes ----

// y = e^(x - maximum) unless it is null; returns the sums.
template <int lanes, class Load>
ETCH_INLINE Floats<lanes> sum_of_powers(const RowsShape& s, const Floats<lanes>& most, float* y,
                                        Load load_x) {
  Floats<lanes> part[16];
  for (Floats<lanes>& each : part) each = all_lanes<lanes>(0.0f);
  for (int32_t i = 0; i < s.n; ++i) {
    const Floats<lanes> e = exponentials_up_to_one(difference(load_x(i), most));
    if (y != nullptr) store(y + i * s.y_step, e);
    part[i & 15] = sum(part[i & 15], e);
  }
  return sum_of_lanes(part);
}

// `lanes` rows that are neighbours.
template <int lanes, bool logarithm>
ETCH_INLINE void softmax_of_rows(const RowsShape& s, const float* x, float* y) {
  const auto load_x = [&](int32_t i) { return load<lanes>(x + i * s.x_step); };
  Floats<lanes> most = all_lanes<lanes>(kLeastFloat);
  for (int32_t i = 0; i < s.n; ++i) most = larger(load_x(i), most);
  const Floats<lanes> sums = sum_of_powers(s, most, logarithm ? nullptr : y, load_x);
  if constexpr (logarithm) {
    const Floats<lanes> less = logarithms(sums);
    for (int32_t i = 0; i < s.n; ++i)
      store(y + i * s.y_step, difference(difference(load_x(i), most), less));
  } else {
    const Floats<lanes> scale = quotient(all_lanes<lanes>(1.0f), sums);
    for (int32_t i = 0; i < s.n; ++i)
      store(y + i * s.y_step, product(load<lanes>(y + i * s.y_step), scale));
  }
  store_no_results(s, y, sums);
}

template <bool logarithm>
ETCH_INLINE void softmax_in_lanes(const RowsShape& s, const float* x, float* y) {
  int32_t row = 0;
  if (s.x_next == 1 && s.y_next == 1) {
    for (; s.rows - row >= kFloatLanes; row += kFloatLanes)
      softmax_of_rows<kFloatLanes, logarithm>(s, x + row, y + row);
  }
  for (; row < s.rows; ++row)
    softmax_of_rows<1, logarithm>(s, x + row * s.x_next, y + row * s.y_next);
}

// Softmax as softmax_f32() has it, element by element along any axis. x and y must not overlap.
static inline void softmax_rows(const RowsShape& s, const float* x, float* y) {
  if (s.x_step != 1 || s.y_step != 1) return softmax_in_lanes<false>(s, x, y);
  if (s.x_next == s.n && s.y_next == s.n) return softmax_f32(x, y, s.rows, s.n);
  for (int32_t row = 0; row < s.rows; ++row, x += s.x_next, y += s.y_next)
    softmax_f32(x, y, 1, s.n);
}

// y = (x - most) - ln(sum), or NaN where the sum is none of a row.
static inline void store_logarithms(const float* x, float* y, int32_t n, float most, float sum) {
  constexpr int kLanes = kFloatLanes;
  if (!(sum >= 1.0f)) return store_no_result(y, 1, n);
  const float less = log_f32(sum);
  int32_t i = 0;
  for (; n - i >= kLanes; i += kLanes) {
    const Floats<kLanes> moved = difference(load<kLanes>(x + i), all_lanes<kLanes>(most));
    store(y + i, difference(moved, all_lanes<kLanes>(less)));
  }
  for (; i < n; ++i) y[i] = (x[i] - most) - less;
}

// Its logarithm: (x - max) - ln(sum). As in softmax_long(), rows do not wait for each other.
static inline void log_softmax_rows(const RowsShape& s, const float* x, float* y) {
  if (s.x_step != 1 || s.y_step != 1) return softmax_in_lanes<true>(s, x, y);
  float most = s.rows > 0 ? largest(x, s.n) : 0.0f;
  float most_before = 0.0f, sum_before = 0.0f;
  for (int32_t row = 0; row < s.rows; ++row, x += s.x_next, y += s.y_next) {
    const float next = row + 1 < s.rows ? largest(x + s.x_next, s.n) : 0.0f;
    const float sum = exp_and_sum<false>(x, y, s.n, most);
    if (row > 0) store_logarithms(x - s.x_next, y - s.y_next, s.n, most_before, sum_before);
    most_before = most;
    sum_before = sum;
    most = next;
  }
  if (s.rows > 0) store_logarithms(x - s.x_next, y - s.y_next, s.n, most_before, sum_before);
}

}  // namespace rt
}  // namespace etch
