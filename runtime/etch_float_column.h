// The product of a float matrix and one column: lanes of vectors are rows, which are turned. The
// sums are those of etch_float_products.h, in the same order.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_products.h"
#include "etch_transpose.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

template <int lanes, int count>
ETCH_INLINE void finish_rows(const Columns<lanes, count>& sums, const FloatEnd& end, const float* c,
                             float* y, ptrdiff_t y_row) {
  finish(sums.first, end, c, y, y_row);
  if constexpr (count > 1)
    finish_rows(sums.rest, end, c + lanes * end.c_column, y + lanes * y_row, y_row);
}

// `count` vectors of rows from `first` on, turned part by part. In `end` rows are columns.
template <class Steps, int lanes, int count>
static inline void column_rows(const FloatConvShape& s, const FloatEnd& end, const float* x,
                               const float* w, const float* c, float* y, int32_t first) {
  constexpr int32_t kRows = lanes * count, kPart = 32;
  float part[static_cast<size_t>(kRows * kPart)];
  const ptrdiff_t x_row = next_input(s);
  const ptrdiff_t y_row = next_output(s);
  Columns<lanes, count> sums;
  clear(sums);
  for (int32_t k = 0; k < s.in; k += kPart) {
    const int32_t n = s.in - k < kPart ? s.in - k : kPart;
    constexpr ptrdiff_t kSize = sizeof(float);
    transpose_words(reinterpret_cast<const uint8_t*>(x + first * x_row + k), kSize * x_row,
                    reinterpret_cast<uint8_t*>(part), kSize * kRows, kRows, n);
    for (int32_t j = 0; j < n; ++j) add_scaled<Steps>(sums, w + k + j, part + j * kRows);
  }
  end_sums<Steps>(sums);
  finish_rows(sums, end, c + first * end.c_column, y + first * y_row, y_row);
}

#if defined(__AVX__)
struct FourFactors {  // each in all lanes
  Floats<8> w0, w1, w2, w3;
};

// sums[j] += row j, of 4 elements, times w, in order.
template <class Steps, int count>
ETCH_INLINE void add_rows(Columns<8, count>& sums, const float* x, ptrdiff_t x_row,
                          const FourFactors& w) {
  const HalfBlock turned = columns_of_rows(x, x_row);
  sums.first = Steps::add(sums.first, Floats<8>{turned.c0}, w.w0);
  sums.first = Steps::add(sums.first, Floats<8>{turned.c1}, w.w1);
  sums.first = Steps::add(sums.first, Floats<8>{turned.c2}, w.w2);
  sums.first = Steps::add(sums.first, Floats<8>{turned.c3}, w.w3);
  if constexpr (count > 1) add_rows<Steps>(sums.rest, x + 8 * x_row, x_row, w);
}

template <class Steps, int count>
ETCH_INLINE void add_single(Columns<8, count>& sums, const float* x, ptrdiff_t x_row, float w) {
  float each[8];
  for (int i = 0; i < 8; ++i) each[i] = x[i * x_row];
  sums.first = Steps::add(sums.first, load<8>(each), all_lanes<8>(w));
  if constexpr (count > 1) add_single<Steps>(sums.rest, x + 8 * x_row, x_row, w);
}

// As column_rows() for vectors of 8, turned in registers. Few rows at a time, so that not too many
// streams of memory run side by side.
template <class Steps, int count>
static inline void column_halves(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                 const float* w, const float* c, float* y, int32_t first) {
  const ptrdiff_t x_row = next_input(s), y_row = next_output(s);
  x += first * x_row;
  Columns<8, count> sums;
  clear(sums);
  int32_t k = 0;
  for (; k + 4 <= s.in; k += 4) {
    const FourFactors each = {all_lanes<8>(w[k]), all_lanes<8>(w[k + 1]), all_lanes<8>(w[k + 2]),
                              all_lanes<8>(w[k + 3])};
    add_rows<Steps>(sums, x + k, x_row, each);
  }
  for (; k < s.in; ++k) add_single<Steps>(sums, x + k, x_row, w[k]);
  end_sums<Steps>(sums);
  finish_rows(sums, end, c + first * end.c_column, y + first * y_row, y_row);
}
#endif

// The product of a matrix with contiguous rows and one column: lanes are rows. The last vector
// takes some of them twice. Without vectors, as float_conv() has it.
template <class Steps = Separate>
static inline void float_column(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                const float* w, const float* c, float* y) {
  constexpr int kLanes = kFloatLanes;
  if constexpr (kLanes == 1) return float_conv<Steps>(s, end, x, w, c, y);
  const FloatEnd turned = {end.alpha, end.beta, 0, end.c_row, end.relu, end.most};
  const int32_t rows = s.axis[s.along].out;
  int32_t at = 0;
#if defined(__AVX__)
  for (; rows - at >= 16; at += 16) column_halves<Steps, 2>(s, turned, x, w, c, y, at);
  for (; rows - at >= 8; at += 8) column_halves<Steps, 1>(s, turned, x, w, c, y, at);
  if (at < rows && rows >= 8) return column_halves<Steps, 1>(s, turned, x, w, c, y, rows - 8);
#else
  for (; rows - at >= 4 * kLanes; at += 4 * kLanes)
    column_rows<Steps, kLanes, 4>(s, turned, x, w, c, y, at);
  for (; rows - at >= kLanes; at += kLanes)
    column_rows<Steps, kLanes, 1>(s, turned, x, w, c, y, at);
  if (at < rows && rows >= kLanes) {
    column_rows<Steps, kLanes, 1>(s, turned, x, w, c, y, rows - kLanes);
    return;
  }
#endif
  for (; at < rows; ++at) column_rows<Steps, 1, 1>(s, turned, x, w, c, y, at);
}

}  // namespace rt
}  // namespace etch
