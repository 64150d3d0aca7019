// Float convolutions and matrix products with fixed sums: every result is
//   ((0 + p0) + p1) + p2 ...   with p = fl(x * w), in order of kernel position (row-major), then of
//   input channel; positions in the padding are left out
// so that all targets give the same bits, whatever their vectors and the compiler's flags.
//
// Weights are packed in panels of columns (etch_float_pack.h). A tile is a few pixels times a few
// vectors of columns, whose sums stay in registers. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_checked_tiles.h"
#include "etch_float_lanes.h"
#include "etch_float_matrix.h"
#include "etch_float_pack.h"
#include "etch_float_tiles.h"
#include "etch_float_walk.h"
#include "etch_fpu_tiles.h"
#include "etch_neon_tiles.h"
#include "etch_products.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// `pixels` neighbours from position `out` on the axis of tiles on. With more than one, all their
// taps are inside.
template <class Steps, int lanes, int count, int pixels>
static inline void float_tile(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                              const Window& window, int32_t out) {
  const ConvAxis& axis = s.axis[s.along];
  const ptrdiff_t x_pixel = next_input(s);
  const ptrdiff_t y_pixel = next_output(s);
  Tile<lanes, count, pixels> tile;
  clear(tile);
  const ptrdiff_t x_channel = s.x_channel, width = row.width;
  for_each_tap(s.axis, window, [&](ptrdiff_t at, int32_t tap) {
    const float* x = row.x + at;
    const float* w = row.w + static_cast<ptrdiff_t>(tap) * s.in * width;
    const float* const last = w + s.in * width;
#if defined(ETCH_ARM_LANES)
    if constexpr (lanes == 4) {
      const float* const fours = x_channel == 1 ? w + (s.in & ~3) * width : w;
      for (; w != fours; x += 4, w += 4 * width) add_four<Steps>(tile, x, x_pixel, w, width);
    }
#endif
#if defined(ETCH_NEON_TILES)
    if constexpr (kHasNeonTile<Steps, lanes, count, pixels>) {
      const int32_t fours = x_channel == 1 ? s.in / 4 : 0;
      if (fours != 0) w = add_fours(tile, x, x_pixel, w, width, fours);
      x += 4 * fours;
    }
#endif
#if defined(ETCH_CHECKED_TILES)
    if constexpr (!is_fused(Steps()) && lanes == kCheckedLanes && count * pixels == 4) {
      const float* const pairs = x_channel == 1 ? w + (s.in & ~1) * width : w;
      for (; w != pairs; x += 2, w += 2 * width) add_two(tile, x, x_pixel, w, width);
    }
#endif
    for (; w != last; x += x_channel, w += width) add_scaled<Steps>(tile, x, x_pixel, w);
  });
  end_sums<Steps>(tile);
  finish(tile, end, row.c + out * end.c_row, row.y + out * axis.y_step, y_pixel, s.y_channel);
}

#if defined(ETCH_FPU_TILES)
// Channels that follow each other in x, and the first of their taps in each line of a window.
struct ChannelRuns {
  Window taps;
  int32_t channels;
  ptrdiff_t x_channel;
};

// Taps of the last axis whose channels follow each other are one run.
ETCH_INLINE ChannelRuns runs_of_channels(const FloatConvShape& s, const Window& window) {
  ChannelRuns runs{window, s.in, s.x_channel};
  TapRange& last = runs.taps.axis[2];
  if (last.count < 2 || last.step != 1) return runs;
  const ptrdiff_t next = last.x_step * s.axis[2].x_step;
  if (s.in != 1 && (s.x_channel != 1 || next != s.in)) return runs;
  runs.channels *= last.count;
  runs.x_channel = s.in == 1 ? next : 1;
  last.count = 1;
  return runs;
}

// float_tile() in assembly, of four pixels of four columns or one of eight: one function for both,
// which keeps the code small.
ETCH_OWN_REGISTERS static void fpu_tile(const FloatConvShape& s, const FloatEnd& end,
                                        const FloatRow& row, const Window& window, int32_t out,
                                        int32_t pixels) {
  const int32_t columns = pixels == 1 ? 8 : 4;
  float sums[16];
  const float* from = kNoSums;
  const ChannelRuns runs = runs_of_channels(s, window);
  for_each_tap(s.axis, runs.taps, [&](ptrdiff_t at, int32_t tap) {
    const FpuOperands operands{row.x + at, next_input(s), runs.x_channel,
                               row.w + static_cast<ptrdiff_t>(tap) * s.in * row.width, row.width};
    if (pixels == 1) {
      add_to_eight(sums, from, operands, runs.channels);
    } else {
      add_to_fours(sums, from, operands, runs.channels);
    }
    from = sums;
  });
  const float* const c = row.c + out * end.c_row;
  float* const y = row.y + out * s.axis[s.along].y_step;
  if (is_plain(end, s.y_channel)) {
    finish_fours(from, pixels, columns, end, c, y, next_output(s));
  } else {
    finish_stored<1>(from, pixels, columns, end, c, y, next_output(s), s.y_channel);
  }
}

// Four columns of four rows of a matrix at a time: what windows have in common is computed once. A
// template, as what is below, so that nothing is left over where there is no matrix.
template <class Steps>
ETCH_OWN_REGISTERS static void fours_of_matrix(const FloatConvShape& s, const FloatEnd& end,
                                               const FloatRow& first, int32_t rows,
                                               int32_t columns) {
  FloatRow row = first;
  const ptrdiff_t x_pixel = next_input(s), y_pixel = next_output(s);
  for (; columns >= 4; columns -= 4, advance(row, 4, end, s.y_channel)) {
    FpuOperands operands{row.x, x_pixel, s.x_channel, row.w, row.width};
    float* y = row.y;
    for (int32_t n = rows; n >= 4; n -= 4, operands.x += 4 * x_pixel, y += 4 * y_pixel) {
      float sums[16];
      add_to_fours(sums, kNoSums, operands, s.in);
      finish_fours(sums, 4, 4, end, row.c, y, y_pixel);
    }
  }
}

// Eight columns of one row at a time.
template <class Steps>
ETCH_OWN_REGISTERS static void eights_of_matrix(const FloatConvShape& s, const FloatEnd& end,
                                                const FloatRow& first, int32_t columns) {
  FloatRow row = first;
  for (; columns >= 8; columns -= 8, advance(row, 8, end, s.y_channel)) {
    float sums[8];
    add_to_eight(sums, kNoSums, FpuOperands{row.x, 0, s.x_channel, row.w, row.width}, s.in);
    finish_fours(sums, 1, 8, end, row.c, row.y, 0);
  }
}
#endif

// All positions on the axis of tiles for some vectors of columns.
template <class Steps, int lanes, int count>
static inline void float_row(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                             const Interior& interior, const Window& around) {
  Window window = around;
  for_each_tile<tile_pixels(count, lanes)>(s, interior, window, [&](int32_t out, auto width) {
    constexpr int kPixels = decltype(width)::value;
#if defined(ETCH_FPU_TILES)
    if constexpr (kHasFpuTile<Steps, lanes, count, kPixels>)
      return fpu_tile(s, end, row, window, out, kPixels);
#endif
    float_tile<Steps, lanes, count, kPixels>(s, end, row, window, out);
  });
}

// ---- columns that do not fill a vector ----

// sums[p] += x[p] * w
template <class Steps, int lanes, int pixels>
ETCH_INLINE void add_scaled(Tile<lanes, 1, pixels>& tile, const float* x, ptrdiff_t x_pixel,
                            const Floats<lanes>& w) {
  tile.first.first = Steps::add_one(tile.first.first, x, w);
  if constexpr (pixels > 1) add_scaled<Steps>(tile.rest, x + x_pixel, x_pixel, w);
}

template <int lanes, int pixels>
ETCH_INLINE void finish_some(const Tile<lanes, 1, pixels>& tile, const FloatEnd& end,
                             const Floats<lanes>& c, float* y, ptrdiff_t y_pixel, int32_t columns) {
  const Floats<lanes> result = sum(tile.first.first, c);
  store_some(y, limited(result, end), columns);
  if constexpr (pixels > 1) finish_some(tile.rest, end, c, y + y_pixel, y_pixel, columns);
}

// As float_tile() for `columns` < lanes columns of the usual end.
template <class Steps, int lanes, int pixels>
static inline void float_tail_tile(const FloatConvShape& s, const FloatEnd& end,
                                   const FloatRow& row, const Window& window, int32_t out,
                                   int32_t columns) {
  const ConvAxis& axis = s.axis[s.along];
  const ptrdiff_t x_pixel = next_input(s);
  const ptrdiff_t y_pixel = next_output(s);
  Tile<lanes, 1, pixels> tile;
  clear(tile);
  for_each_tap(s.axis, window, [&](ptrdiff_t at, int32_t tap) {
    const float* const x = row.x + at;
    const float* const w = row.w + static_cast<ptrdiff_t>(tap) * s.in * row.width;
    for (int32_t c = 0; c < s.in; ++c)
      add_scaled<Steps>(tile, x + c * s.x_channel, x_pixel,
                        load_some<lanes>(w + c * row.width, 1, columns));
  });
  end_sums<Steps>(tile);
  const Floats<lanes> added =
      end.c_column == 0 ? all_lanes<lanes>(*row.c) : load_some<lanes>(row.c, 1, columns);
  finish_some(tile, end, added, row.y + out * axis.y_step, y_pixel, columns);
}

// Vectors of which some lanes are loaded are worth it where that is an instruction or a few, and at
// least two narrower vectors would be needed instead.
#if defined(ETCH_ARM_LANES)
constexpr bool kHasTails = true;
#else
constexpr bool kHasTails = kFloatLanes >= 8;
#endif

template <int lanes>
ETCH_INLINE bool takes_tail(const FloatConvShape& s, const FloatEnd& end, int32_t columns) {
  return lanes == kFloatLanes && columns > 1 && columns % 8 != 0 && columns != 4 &&
         is_plain(end, s.y_channel);
}

// One row of positions: tiles of neighbours on the axis of tiles.
struct RowOfTiles {
  const FloatConvShape& s;
  const FloatEnd& end;
  const Interior& interior;
  const Window& window;
};
template <class Steps, int lanes, int count>
static inline void whole_tiles(const RowOfTiles& tiles, const FloatRow& row) {
  float_row<Steps, lanes, count>(tiles.s, tiles.end, row, tiles.interior, tiles.window);
}
template <class Steps, int lanes>
static inline void part_tiles(const RowOfTiles& tiles, const FloatRow& row, int32_t columns) {
  Window taps = tiles.window;
  for_each_tile<(kHasTails ? 8 : 4)>(tiles.s, tiles.interior, taps, [&](int32_t out, auto width) {
    float_tail_tile<Steps, lanes, decltype(width)::value>(tiles.s, tiles.end, row, taps, out,
                                                          columns);
  });
}

#if defined(ETCH_CHECKED_FLOATS)
// As many columns as vectors can have, in wide tiles; returns how many are left.
template <class Steps, class Tiles>
static inline int32_t vectors_of_columns(const FloatConvShape& s, const FloatEnd& end,
                                         FloatRow& row, int32_t columns, const Tiles& tiles) {
  constexpr int kLanes = kCheckedLanes;
  for (; s.axis[s.along].out == 1 && columns >= 4 * kLanes; columns -= 4 * kLanes) {
    whole_tiles<Steps, kLanes, 4>(tiles, row);
    advance(row, 4 * kLanes, end, s.y_channel);
  }
  for (; columns >= 2 * kLanes; columns -= 2 * kLanes) {
    whole_tiles<Steps, kLanes, 2>(tiles, row);
    advance(row, 2 * kLanes, end, s.y_channel);
  }
  if (columns >= kLanes) {
    whole_tiles<Steps, kLanes, 1>(tiles, row);
    advance(row, kLanes, end, s.y_channel);
    columns -= kLanes;
  }
  if (columns == 0 || !is_plain(end, s.y_channel)) return columns;
  part_tiles<Steps, kLanes>(tiles, row, columns);
  return 0;
}

// The same where no vector met a subnormal number; otherwise `row` and `columns` are as before.
template <class Steps, class Tiles>
static inline int32_t checked_columns(const FloatConvShape& s, const FloatEnd& end, FloatRow& row,
                                      int32_t columns, const Tiles& tiles) {
  FloatRow next = row;
  const uint32_t before = begin_check();
  const int32_t left = vectors_of_columns<Steps>(s, end, next, columns, tiles);
  if (!end_check(before)) return columns;
  row = next;
  return left;
}
#endif

// `columns` columns of a panel: as many as possible in wide tiles, the rest in narrower vectors.
// whole_tiles<lanes, count>(tiles, row) computes `count` vectors of columns of all positions it
// stands for, part_tiles<lanes>(tiles, row, columns) less than a vector.
template <class Steps, int lanes, class Tiles>
static inline void float_columns(const FloatConvShape& s, const FloatEnd& end,
                                 const FloatRow& first, int32_t columns, const Tiles& tiles) {
  FloatRow row = first;
#if defined(ETCH_CHECKED_FLOATS)
  columns = checked_columns<Steps>(s, end, row, columns, tiles);
#endif
  if constexpr (lanes == 1 && kSingleColumns > 1 && kFloatLanes == 1) {
    if (s.axis[s.along].out == 1) {
      for (; columns >= 8; columns -= 8) {
        whole_tiles<Steps, lanes, 8>(tiles, row);
        advance(row, 8, end, s.y_channel);
      }
    }
  }
  constexpr int kMost = kFloatLanes > 1 ? 4 : kSingleColumns;
  if constexpr (lanes == kFloatLanes && kMost > 1) {
    for (; columns >= kMost * lanes; columns -= kMost * lanes) {
      whole_tiles<Steps, lanes, kMost>(tiles, row);
      advance(row, kMost * lanes, end, s.y_channel);
    }
    if (kFloatLanes > 1 && columns >= 2 * lanes) {
      whole_tiles<Steps, lanes, 2>(tiles, row);
      advance(row, 2 * lanes, end, s.y_channel);
      columns -= 2 * lanes;
    }
  }
  for (; columns >= lanes; columns -= lanes) {
    whole_tiles<Steps, lanes, 1>(tiles, row);
    advance(row, lanes, end, s.y_channel);
  }
  if constexpr (lanes == kFloatLanes && kHasTails) {
    if (takes_tail<lanes>(s, end, columns)) {
      part_tiles<Steps, lanes>(tiles, row, columns);
      return;
    }
  }
  if constexpr (lanes > 1) float_columns<Steps, narrower(lanes)>(s, end, row, columns, tiles);
}

// Calls body(offset of y, window) for every row of positions along the axis of the tiles; the
// window has the taps on the other axes.
template <class Body>
ETCH_INLINE void for_each_row(const FloatConvShape& s, Body body) {
  const int32_t inner = 3 - s.along;
  Window window = {};
  for (int32_t d = 0; d < s.axis[0].out; ++d) {
    window.axis[0] = taps_inside(s.axis[0], s.transposed, d);
    for (int32_t h = 0; h < s.axis[inner].out; ++h) {
      window.axis[inner] = taps_inside(s.axis[inner], s.transposed, h);
      body(d * s.axis[0].y_step + h * s.axis[inner].y_step, window);
    }
  }
}

// All positions, in tiles along the axis of tiles.
template <class Steps>
static inline void rows_of_tiles(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                                 const Interior& interior, int32_t columns) {
  for_each_row(s, [&](ptrdiff_t y_row, const Window& window) {
    FloatRow at = row;
    at.y += y_row;
    float_columns<Steps, kFloatLanes>(s, end, at, columns, RowOfTiles{s, end, interior, window});
  });
}

#if defined(ETCH_FPU_TILES)
// Rows [first, last) of `count` columns of a matrix, `pixels` at a time.
template <class Steps, int count, int pixels>
static inline void rows_of_columns(const FloatConvShape& s, const FloatEnd& end,
                                   const FloatRow& row, int32_t first, int32_t last) {
  Window window = {{{0, 1, 1, 0, 1}, {0, 1, 1, 0, 1}, {0, 1, 1, 0, 1}}};
  for (int32_t out = first; out < last; out += pixels) {
    window.axis[2].x = out * s.axis[2].stride;
    float_tile<Steps, 1, count, pixels>(s, end, row, window, out);
  }
}

// What fours_of_matrix() of `fours` rows leaves over, and eights_of_matrix() of the others.
template <class Steps>
ETCH_OWN_REGISTERS static void rest_of_matrix(const FloatConvShape& s, const FloatEnd& end,
                                              const FloatRow& first, int32_t fours,
                                              int32_t columns) {
  FloatRow row = first;
  const int32_t rows = s.axis[2].out;
  advance(row, columns & ~7, end, s.y_channel);
  if ((columns & 4) != 0) {
    rows_of_columns<Steps, 4, 1>(s, end, row, fours, rows);
    advance(row, 4, end, s.y_channel);
  }
  for (int32_t left = columns & 3; left > 0; --left, advance(row, 1, end, s.y_channel)) {
    rows_of_columns<Steps, 1, 4>(s, end, row, 0, fours);
    rows_of_columns<Steps, 1, 1>(s, end, row, fours, rows);
  }
}

// A matrix. What fours and eights leave over are tiles as others are.
template <class Steps>
static inline void rows_of_matrix(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                                  int32_t columns) {
  const int32_t rows = s.axis[2].out, fours = rows & ~3;
  fours_of_matrix<Steps>(s, end, row, fours, columns);
  for (int32_t i = fours; i < rows; ++i) {
    FloatRow at = row;
    at.x += i * next_input(s);
    at.y += i * next_output(s);
    eights_of_matrix<Steps>(s, end, at, columns);
  }
  rest_of_matrix<Steps>(s, end, row, fours, columns);
}
#endif

// Whether positions at both ends of the last axis, each with taps of its own, have enough
// neighbours on the axis before it, with the same taps, to be tiles there.
static inline bool has_turned_border(const FloatConvShape& s, const FloatEnd& end,
                                     Interior interior) {
  constexpr int32_t kFew = 4;
  const bool inside = interior.first == 0 && interior.last == s.axis[2].out;
  return s.along == 2 && !s.transposed && end.c_row == 0 && !inside && s.axis[1].out >= kFew;
}

// Positions of the last axis all of whose taps are inside.
template <class Steps>
static inline void rows_inside(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                               const Interior& interior, int32_t columns) {
  FloatConvShape inside = s;
  ConvAxis& axis = inside.axis[2];
  axis.pad -= interior.first * axis.stride;
  axis.out = interior.last - interior.first;
  FloatRow first = row;
  first.y += interior.first * axis.y_step;
  rows_of_tiles<Steps>(inside, end, first, {0, axis.out}, columns);
}

// The others, in tiles along the axis before it.
template <class Steps>
static inline void border_in_columns(const FloatConvShape& s, const FloatEnd& end,
                                     const FloatRow& row, const Interior& interior,
                                     int32_t columns) {
  FloatConvShape turned = s;
  turned.along = 1;
  const Interior tiles = interior_of(s.axis[1], false);
  Window window = {};
  for (int32_t d = 0; d < s.axis[0].out; ++d) {
    window.axis[0] = taps_inside(s.axis[0], false, d);
    for (int32_t w = 0; w < s.axis[2].out; ++w) {
      if (w == interior.first) w = interior.last;
      if (w == s.axis[2].out) break;
      window.axis[2] = taps_inside(s.axis[2], false, w);
      FloatRow at = row;
      at.y += d * s.axis[0].y_step + w * s.axis[2].y_step;
      float_columns<Steps, kFloatLanes>(turned, end, at, columns,
                                        RowOfTiles{turned, end, tiles, window});
    }
  }
}

// Calls body(row, columns) for the columns of each panel, in every group of every image.
template <class Body>
ETCH_INLINE void for_each_panel(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                const float* w, const float* c, float* y, Body body) {
  const int32_t taps = s.axis[0].kernel * s.axis[1].kernel * s.axis[2].kernel;
  const ptrdiff_t depth = static_cast<ptrdiff_t>(taps) * s.in;
  const int32_t panel = s.panel != 0 ? s.panel : kPanel, most = panel < kPanel ? panel : kPanel;
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      for (int32_t first = 0; first < s.out; first += most) {
        const int32_t columns = s.out - first < most ? s.out - first : most;
        const int32_t before = first % panel;  // in the panel
        const int32_t width = s.out - first + before < panel ? s.out - first + before : panel;
        const ptrdiff_t column = static_cast<ptrdiff_t>(g) * s.out + first;
        const float* const panel_w = w + (column - before) * depth + before;
        body(FloatRow{x + n * s.x_image + g * s.in * s.x_channel, panel_w, width,
                      c + column * end.c_column, y + n * s.y_image + column * s.y_channel},
             columns);
      }
    }
  }
}

template <class Steps>
static inline void float_windows(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                 const float* w, const float* c, float* y) {
  const Interior interior = interior_of(s.axis[s.along], s.transposed);
  for_each_panel(s, end, x, w, c, y, [&](FloatRow row, int32_t columns) {
    if constexpr (kFloatLanes == 8) {
      if (is_matrix(s) && is_near(s, row)) columns = matrix_columns<Steps, 8>(s, end, row, columns);
    }
    if (columns == 0) return;
    if (has_turned_border(s, end, interior)) {
      rows_inside<Steps>(s, end, row, interior, columns);
      border_in_columns<Steps>(s, end, row, interior, columns);
    } else {
      rows_of_tiles<Steps>(s, end, row, interior, columns);
    }
  });
}

#if defined(ETCH_FPU_TILES)
template <class Steps>
ETCH_OWN_REGISTERS static void float_rows(const FloatConvShape& s, const FloatEnd& end,
                                          const float* x, const float* w, const float* c,
                                          float* y) {
  for_each_panel(s, end, x, w, c, y, [&](const FloatRow& row, int32_t columns) {
    rows_of_matrix<Steps>(s, end, row, columns);
  });
}
#endif

// Conv, ConvTranspose, and one pair of matrices of MatMul or Gemm; `w` is packed per group. In
// line, so that an image has no windows where constants say that there are none.
template <class Steps = Separate>
ETCH_INLINE void float_conv(const FloatConvShape& s, const FloatEnd& end, const float* x,
                            const float* w, const float* c, float* y) {
#if defined(ETCH_FPU_TILES)
  if (!is_fused(Steps()) && is_matrix(s) && is_plain(end, s.y_channel))
    return float_rows<Steps>(s, end, x, w, c, y);
#endif
  float_windows<Steps>(s, end, x, w, c, y);
}

}  // namespace rt
}  // namespace etch
