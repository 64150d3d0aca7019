// Float products of a matrix on AVX: rows in tiles of about the same size, each tile in a function
// of its own, where the columns of a panel are close together. The sums are those of
// etch_float_products.h, in the same order, which has all other shapes and the columns left over.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"
#include "etch_float_pack.h"
#include "etch_float_tiles.h"
#include "etch_float_walk.h"

namespace etch {
namespace rt {

// Whether x is a matrix: one tap, on the last axis alone, all inside.
ETCH_INLINE bool is_matrix(const FloatConvShape& s) {
  const bool one_tap = s.axis[0].kernel == 1 && s.axis[1].kernel == 1 && s.axis[2].kernel == 1;
  const ConvAxis& a = s.axis[2];
  const bool inside = s.axis[0].pad == 0 && s.axis[1].pad == 0 && a.pad == 0 &&
                      static_cast<int64_t>(a.out - 1) * a.stride < a.in;
  return one_tap && inside && s.axis[0].out == 1 && s.axis[1].out == 1 && s.along == 2 &&
         !s.transposed;
}

// Whether the columns of a tile remain in the first cache: of rows of wide and deep panels a tile
// takes half, and these halves meet in half of the cache's sets.
static inline bool is_near(const FloatConvShape& s, const FloatRow& row) {
  constexpr ptrdiff_t kNear = ptrdiff_t{128} * kPanel;
  return row.width <= kNarrowPanel || row.width * s.in <= kNear;
}

// Where a loop of 200 bytes begins in a cache line changes its speed by a tenth.
#if defined(__GNUC__)
#define ETCH_OWN_LINES __attribute__((aligned(64)))
#else
#define ETCH_OWN_LINES
#endif

// A function of its own: among others that are inlined its sums do not stay in registers.
template <class Steps, int lanes, int count, int pixels>
ETCH_OWN_REGISTERS ETCH_OWN_LINES static void matrix_tile(const FloatConvShape& s,
                                                          const FloatEnd& end, const FloatRow& row,
                                                          int32_t out) {
  const ptrdiff_t x_pixel = next_input(s), y_pixel = next_output(s), x_channel = s.x_channel;
  const float* x = row.x + out * x_pixel;
  const float* w = row.w;
  Tile<lanes, count, pixels> tile;
  clear(tile);
  for (int32_t k = s.in; k > 0; --k, x += x_channel, w += row.width)
    add_scaled<Steps>(tile, x, x_pixel, w);
  end_sums<Steps>(tile);
  finish(tile, end, row.c + out * end.c_row, row.y + out * y_pixel, y_pixel, s.y_channel);
}

// All rows, in tiles of about the same size: sums of few rows after large tiles would wait for
// each other. Then the next columns.
template <class Steps, int lanes, int count>
static inline void matrix_rows(const FloatConvShape& s, const FloatEnd& end, FloatRow& row) {
  for_even_tiles<tile_pixels(count), 1>(s.axis[2].out, [&](int32_t out, auto width) {
    matrix_tile<Steps, lanes, count, decltype(width)::value>(s, end, row, out);
  });
  advance(row, count * lanes, end, s.y_channel);
}

// As many of `columns` columns of a panel as fill tiles; returns how many are left. A function of
// its own, so that those of other shapes remain as they are.
template <class Steps, int lanes>
ETCH_OWN_REGISTERS static int32_t matrix_columns(const FloatConvShape& s, const FloatEnd& end,
                                                 FloatRow& row, int32_t columns) {
  for (; columns >= 4 * lanes; columns -= 4 * lanes) matrix_rows<Steps, lanes, 4>(s, end, row);
  if (columns >= 2 * lanes) {
    matrix_rows<Steps, lanes, 2>(s, end, row);
    columns -= 2 * lanes;
  }
  return columns;
}

}  // namespace rt
}  // namespace etch
