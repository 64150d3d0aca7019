// The positions of a float convolution (etch_float_products.h) in the order of their tiles: shapes,
// where a row of tiles reads and writes, and which positions on the axis of tiles one tile has.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"
#include "etch_float_tiles.h"
#include "etch_products.h"

namespace etch {
namespace rt {

// A convolution, or the product of two matrices: one axis whose positions are the rows of a, input
// channels are the depth, output channels the columns. Steps count elements. Tiles are neighbours
// on axis `along`, 1 or 2. `panel` is the columns of a panel where that is not kPanel but
// kNarrowPanel, a multiple or all of them: 0 stands for kPanel.
struct FloatConvShape {
  int32_t transposed;  // 0 or 1: g++ 12 does not see what a bool of a constant structure is
  int32_t batch, group, in, out;  // in and out: channels per group
  ptrdiff_t x_image, x_channel, y_image, y_channel;
  ConvAxis axis[3];  // w_step is not used
  int32_t along;
  int32_t panel;
};

// Where one row of tiles reads and writes: x at channel 0 of the group in its image; w at its
// first column in a panel whose rows have `width` columns; c and y at that column.
template <class Weight>
struct RowOf {
  const float* x;
  const Weight* w;
  ptrdiff_t width;
  const float* c;
  float* y;
};
using FloatRow = RowOf<float>;

// The next columns of a panel.
template <class Weight>
static inline void advance(RowOf<Weight>& row, int32_t columns, const FloatEnd& end,
                           ptrdiff_t y_channel) {
  row.w += columns;
  row.c += columns * end.c_column;
  row.y += columns * y_channel;
}

// From one pixel of a tile to the next in x and in y: neighbours on the axis of tiles or, if
// transposed, outputs a stride apart, which read neighbours.
ETCH_INLINE ptrdiff_t next_input(const FloatConvShape& s) {
  const ConvAxis& axis = s.axis[s.along];
  return s.transposed ? axis.x_step : axis.stride * axis.x_step;
}
ETCH_INLINE ptrdiff_t next_output(const FloatConvShape& s) {
  const ConvAxis& axis = s.axis[s.along];
  return s.transposed ? axis.stride * axis.y_step : axis.y_step;
}

// The next smaller tile. Without vectors, few sizes keep the code small.
static constexpr int next_pixels(int pixels) {
  if (kFloatLanes == 1) return 1;
  return pixels > 4 ? 4 : pixels / 2;
}

// Positions [out, last) on the axis of tiles, all of whose taps are inside: as many as possible in
// large tiles. Returns where it ended.
template <int pixels, class Tiles>
ETCH_INLINE int32_t inner_tiles(const FloatConvShape& s, Window& window, int32_t out, int32_t last,
                                Tiles tiles) {
  for (; out + pixels <= last; out += pixels) {
    window.axis[s.along].x = out * s.axis[s.along].stride - s.axis[s.along].pad;
    tiles(out, Width<pixels>{});
  }
  if constexpr (pixels > 1) return inner_tiles<next_pixels(pixels)>(s, window, out, last, tiles);
  return out;
}

// Whether `pixels` positions of a transposed axis, a stride apart from `out` on, have the same
// taps, all that meet this position modulo the stride; `range` is of the first.
static inline bool share_taps(const ConvAxis& axis, int32_t out, int32_t pixels, TapRange& range) {
  range = taps_inside(axis, true, out);
  if (pixels == 1) return true;
  const int32_t last = out + (pixels - 1) * axis.stride;
  if (last >= axis.out) return false;
  int32_t all = 0;
  for (int32_t tap = 0; tap < axis.kernel; ++tap)
    all += (out + axis.pad - tap * axis.dilation) % axis.stride == 0 ? 1 : 0;
  return range.count == all && taps_inside(axis, true, last).count == all;
}

// One tile of a transposed axis, as large as possible; returns how far the next one is.
template <int pixels, class Tiles>
ETCH_INLINE int32_t transposed_tile(const FloatConvShape& s, Window& window, int32_t out,
                                    Tiles tiles) {
  if (share_taps(s.axis[s.along], out, pixels, window.axis[s.along])) {
    tiles(out, Width<pixels>{});
    return pixels * s.axis[s.along].stride;
  }
  if constexpr (pixels > 1) return transposed_tile<next_pixels(pixels)>(s, window, out, tiles);
  return 0;
}

// Calls body(number of the first, Width<pixels>{}) for tiles of about the same size, at most
// `most` and at least `least`, that have all `n` pixels.
template <int pixels, int least, class Body>
ETCH_INLINE void tile_of(int32_t wanted, int32_t first, Body body) {
  if constexpr (pixels > least) {
    if (wanted < pixels) return tile_of<pixels - 1, least>(wanted, first, body);
  }
  body(first, Width<pixels>{});
}
template <int most, int least, class Body>
ETCH_INLINE void for_even_tiles(int32_t n, Body body) {
  int32_t tiles = (n + most - 1) / most;
  for (int32_t at = 0, pixels = 0; at < n; at += pixels, --tiles) {
    pixels = (n - at + tiles - 1) / tiles;
    tile_of<most, least>(pixels, at, body);
  }
}

// Calls tiles(position, Width<number of pixels>{}) for all positions on the axis of tiles, with the
// window set to the taps of the first of them.
template <int pixels, class Tiles>
ETCH_INLINE void for_each_tile(const FloatConvShape& s, Interior interior, Window& window,
                               Tiles tiles) {
  const ConvAxis& axis = s.axis[s.along];
  if (s.transposed) {
    for (int32_t first = 0; first < axis.stride && first < axis.out; ++first) {
      for (int32_t at = first; at < axis.out;) at += transposed_tile<pixels>(s, window, at, tiles);
    }
    return;
  }
  int32_t out = 0;
  const auto border = [&](int32_t last) {
    for (; out < last; ++out) {
      window.axis[s.along] = taps_inside(axis, false, out);
      tiles(out, Width<1>{});
    }
  };
  border(interior.first);
  window.axis[s.along] = {0, 1, axis.kernel, 0, axis.dilation};
  out = inner_tiles<pixels>(s, window, out, interior.last, tiles);
  border(axis.out);
}

}  // namespace rt
}  // namespace etch
