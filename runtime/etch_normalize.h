// Rows that are normalized as a whole: to mean 0 and variance 1, and by neighbouring channels; for
// softmax see etch_softmax.h. Sums are taken in one order and no product is
// fused with a sum, so that every target gives the same bits. C++17, freestanding, no heap, no
// state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_float_sums.h"
#include "etch_functions.h"
#include "etch_softmax.h"

namespace etch {
namespace rt {

// Where the factor and the addend of an element are: row * next + element * step.
struct RowAffine {
  ptrdiff_t factor_next, factor_step, addend_next, addend_step;
};

// `lanes` rows that are neighbours, in order of the elements; factor and addend are theirs.
template <int lanes>
ETCH_INLINE void normalize_neighbours(const RowsShape& s, const RowAffine& a, float epsilon,
                                      const float* x, const float* factor, const float* addend,
                                      float* y) {
  const Floats<lanes> count = all_lanes<lanes>(static_cast<float>(s.n));
  Floats<lanes> part[16];
  for (Floats<lanes>& each : part) each = all_lanes<lanes>(0.0f);
  for (int32_t i = 0; i < s.n; ++i) part[i & 15] = sum(part[i & 15], load<lanes>(x + i * s.x_step));
  const Floats<lanes> mean = quotient(sum_of_lanes(part), count);
  for (Floats<lanes>& each : part) each = all_lanes<lanes>(0.0f);
  for (int32_t i = 0; i < s.n; ++i) {
    const Floats<lanes> d = difference(load<lanes>(x + i * s.x_step), mean);
    part[i & 15] = sum(part[i & 15], product(d, d));
  }
  const Floats<lanes> variance =
      sum(quotient(sum_of_lanes(part), count), all_lanes<lanes>(epsilon));
  const Floats<lanes> inverse = quotient(all_lanes<lanes>(1.0f), roots(variance));
  for (int32_t i = 0; i < s.n; ++i) {
    const Floats<lanes> d = difference(load<lanes>(x + i * s.x_step), mean);
    const Floats<lanes> f = load_or_repeat<lanes>(factor + i * a.factor_step, a.factor_next);
    const Floats<lanes> b = load_or_repeat<lanes>(addend + i * a.addend_step, a.addend_next);
    store(y + i * s.y_step, sum(product(product(d, inverse), f), b));
  }
}

// One row without gaps; factors and addends without gaps or all the same.
static inline void normalize_row(int32_t n, const RowAffine& a, float epsilon, const float* x,
                                 const float* factor, const float* addend, float* y) {
  const float count = static_cast<float>(n);
  const float mean = sum_of_row(x, n, [](const auto& each) { return each; }) / count;
  const float squares = sum_of_row(x, n, [=](const auto& each) {
    const auto d = difference(each, same_lanes(each, mean));
    return product(d, d);
  });
  const float inverse = 1.0f / sqrt_f32(squares / count + epsilon);
  const auto result = [=](ptrdiff_t i, auto width) {
    constexpr int kLanes = decltype(width)::value;
    const Floats<kLanes> d = difference(load<kLanes>(x + i), all_lanes<kLanes>(mean));
    const Floats<kLanes> f = load_or_repeat<kLanes>(factor + i * a.factor_step, a.factor_step);
    const Floats<kLanes> b = load_or_repeat<kLanes>(addend + i * a.addend_step, a.addend_step);
    return sum(product(product(d, all_lanes<kLanes>(inverse)), f), b);
  };
  ptrdiff_t done = 0;
#if defined(ETCH_NEON_FLOATS)
  done = map_checked(
      n, y, [=](ptrdiff_t i) { return result(i, Width<4>{}); },
      [=](ptrdiff_t i) { return result(i, Width<1>{}).v; });
#endif
  const auto store_result = [=](ptrdiff_t i, auto width) { store(y + i, result(i, width)); };
  for (ptrdiff_t i = for_vectors<kFloatLanes>(done, n, store_result); i < n; ++i)
    store_result(i, Width<1>{});
}

// Each row to mean 0 and variance 1, then y = fl(fl(normalized * factor) + addend). Sums: 16
// partial sums, as of softmax.
static inline void normalize_rows(const RowsShape& s, const RowAffine& a, float epsilon,
                                  const float* x, const float* factor, const float* addend,
                                  float* y) {
  const bool is_row =
      s.x_step == 1 && s.y_step == 1 && is_dense(a.factor_step) && is_dense(a.addend_step);
  const bool are_neighbours = !is_row && kFloatLanes > 1 && s.x_next == 1 && s.y_next == 1 &&
                              is_dense(a.factor_next) && is_dense(a.addend_next);
  for (int32_t row = 0; row < s.rows;) {
    const bool several = are_neighbours && s.rows - row >= kFloatLanes;
    if (is_row) {
      normalize_row(s.n, a, epsilon, x, factor, addend, y);
    } else if (several) {
      normalize_neighbours<kFloatLanes>(s, a, epsilon, x, factor, addend, y);
    } else {
      normalize_neighbours<1>(s, a, epsilon, x, factor, addend, y);
    }
    const int32_t done = several ? kFloatLanes : 1;
    row += done;
    x += done * s.x_next;
    y += done * s.y_next;
    factor += done * a.factor_next;
    addend += done * a.addend_next;
  }
}

// Local response normalization: the window of a channel, and the formula's constants.
struct LrnShape {
  int32_t before, after;
  float factor, beta, bias;
};

// value^beta; the usual beta without a logarithm.
static inline float lrn_power(float value, float beta) {
  if (float_bits(beta) != 0x3f400000u) return pow_f32(value, beta);  // 0.75
  const float root = sqrt_f32(value);
  return opaque(root * sqrt_f32(root));
}

// Rows of channels; x and y must not overlap.
static inline void lrn_rows(const RowsShape& s, const LrnShape& lrn, const float* x, float* y) {
  for (int32_t row = 0; row < s.rows; ++row, x += s.x_next, y += s.y_next) {
    for (int32_t c = 0; c < s.n; ++c) {
      const int32_t first = c < lrn.before ? 0 : c - lrn.before;
      const int32_t last = s.n - 1 - c < lrn.after ? s.n - 1 : c + lrn.after;
      float sum = 0.0f;
      for (int32_t k = first; k <= last; ++k) sum += opaque(x[k * s.x_step] * x[k * s.x_step]);
      const float value = lrn.bias + opaque(lrn.factor * sum);
      y[c * s.y_step] = x[c * s.x_step] / lrn_power(value, lrn.beta);
    }
  }
}

}  // namespace rt
}  // namespace etch
