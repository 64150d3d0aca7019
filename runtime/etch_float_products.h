// Float convolutions and matrix products with fixed sums: every result is
//   ((0 + p0) + p1) + p2 ...   with p = fl(x * w), in order of kernel position (row-major), then of
//   input channel; positions in the padding are left out
// so that all targets give the same bits, whatever their vectors and the compiler's flags.
//
// Weights are packed: columns (output channels of a group) in panels of kPanel, the last one
// narrower; in a panel, row (position * in + channel) holds the weights of its columns side by
// side. A tile is a few pixels times a few vectors of columns, whose sums stay in registers.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_products.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

constexpr int32_t kPanel = 64;

// A convolution, or the product of two matrices: one axis whose positions are the rows of a, input
// channels are the depth, output channels the columns. Steps count elements.
struct FloatConvShape {
  bool transposed;
  int32_t batch, group, in, out;  // in and out: channels per group
  ptrdiff_t x_image, x_channel, y_image, y_channel;
  ConvAxis axis[3];  // w_step is not used
};

// y = fl(fl(alpha * sum) + fl(beta * c)); c belongs to a column, a row (position on the last axis),
// both or neither. Nothing to add is -0, which changes nothing.
struct FloatEnd {
  float alpha, beta;
  ptrdiff_t c_row, c_column;  // c_column is 0 or 1 unless c has gaps
};

// Where weights lie before they are packed: element (group, kernel position, input channel, column)
// is w[group * group_step + ...]. Panels of `panel` columns; one panel serves float_depthwise().
struct PackShape {
  int32_t group, taps, in, out, panel;
  ptrdiff_t group_step, tap_step, in_step, out_step;
};

// Brings the weights of one group into panels and returns the place behind them.
static inline float* pack_group(const PackShape& s, const float* w, float* packed) {
  for (int32_t first = 0; first < s.out; first += s.panel) {
    const int32_t width = s.out - first < s.panel ? s.out - first : s.panel;
    for (int32_t tap = 0; tap < s.taps; ++tap) {
      for (int32_t c = 0; c < s.in; ++c) {
        const float* const row = w + tap * s.tap_step + c * s.in_step + first * s.out_step;
        for (int32_t j = 0; j < width; ++j) packed[j] = row[j * s.out_step];
        packed += width;
      }
    }
  }
  return packed;
}

static inline void pack_panels(const PackShape& s, const float* w, float* packed) {
  for (int32_t g = 0; g < s.group; ++g) packed = pack_group(s, w + g * s.group_step, packed);
}

// `pixels` times `count` vectors of sums.
template <int lanes, int count, int pixels>
struct Tile {
  Columns<lanes, count> first;
  Tile<lanes, count, pixels - 1> rest;
};
template <int lanes, int count>
struct Tile<lanes, count, 1> {
  Columns<lanes, count> first;
};

template <int lanes, int count, int pixels>
ETCH_INLINE void clear(Tile<lanes, count, pixels>& tile) {
  clear(tile.first);
  if constexpr (pixels > 1) clear(tile.rest);
}

template <int lanes, int count, int pixels>
ETCH_INLINE void add_scaled(Tile<lanes, count, pixels>& tile, const float* x, ptrdiff_t x_pixel,
                            const float* w) {
  add_scaled(tile.first, *x, w);
  if constexpr (pixels > 1) add_scaled(tile.rest, x + x_pixel, x_pixel, w);
}

// Calls body(x offset, number of the kernel position) for the positions of the kernel that lie
// inside the input.
template <class Body>
ETCH_INLINE void for_each_tap(const FloatConvShape& s, const int32_t* out, Body body) {
  for (int32_t i = 0; i < s.axis[0].kernel; ++i) {
    const int32_t d = tap_position(s.axis[0], s.transposed, out[0], i);
    if (d < 0) continue;
    for (int32_t j = 0; j < s.axis[1].kernel; ++j) {
      const int32_t h = tap_position(s.axis[1], s.transposed, out[1], j);
      if (h < 0) continue;
      for (int32_t k = 0; k < s.axis[2].kernel; ++k) {
        const int32_t v = tap_position(s.axis[2], s.transposed, out[2], k);
        if (v < 0) continue;
        body(d * s.axis[0].x_step + h * s.axis[1].x_step + v * s.axis[2].x_step,
             (i * s.axis[1].kernel + j) * s.axis[2].kernel + k);
      }
    }
  }
}

// One vector of results.
template <int lanes>
ETCH_INLINE void finish(const Floats<lanes>& sums, const FloatEnd& end, const float* c, float* y,
                        ptrdiff_t y_channel) {
  Floats<lanes> added = all_lanes<lanes>(*c);
  if (end.c_column == 1) {
    added = load<lanes>(c);
  } else if (end.c_column != 0) {
    float each[static_cast<size_t>(lanes)];
    for (int i = 0; i < lanes; ++i) each[i] = c[i * end.c_column];
    added = load<lanes>(each);
  }
  const Floats<lanes> result =
      sum(product(sums, all_lanes<lanes>(end.alpha)), product(added, all_lanes<lanes>(end.beta)));
  if (y_channel == 1) {
    store(y, result);
    return;
  }
  float each[static_cast<size_t>(lanes)];
  store(each, result);
  for (int i = 0; i < lanes; ++i) y[i * y_channel] = each[i];
}

template <int lanes, int count>
ETCH_INLINE void finish(const Columns<lanes, count>& sums, const FloatEnd& end, const float* c,
                        float* y, ptrdiff_t y_channel) {
  finish(sums.first, end, c, y, y_channel);
  if constexpr (count > 1)
    finish(sums.rest, end, c + lanes * end.c_column, y + lanes * y_channel, y_channel);
}

template <int lanes, int count, int pixels>
ETCH_INLINE void finish(const Tile<lanes, count, pixels>& tile, const FloatEnd& end, const float* c,
                        float* y, ptrdiff_t y_pixel, ptrdiff_t y_channel) {
  finish(tile.first, end, c, y, y_channel);
  if constexpr (pixels > 1) finish(tile.rest, end, c + end.c_row, y + y_pixel, y_pixel, y_channel);
}

// Where one row of tiles reads and writes: x at channel 0 of the group in its image; w at its
// first column in a panel whose rows have `width` columns; c and y at that column.
struct FloatRow {
  const float* x;
  const float* w;
  ptrdiff_t width;
  const float* c;
  float* y;
};

// `pixels` neighbours from position `out` on. With more than one, all their taps lie inside.
template <int lanes, int count, int pixels>
static inline void float_tile(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                              const int32_t* out) {
  const ptrdiff_t x_pixel = s.axis[2].stride * s.axis[2].x_step;
  Tile<lanes, count, pixels> tile;
  clear(tile);
  for_each_tap(s, out, [&](ptrdiff_t at, int32_t tap) {
    const float* const x = row.x + at;
    const float* const w = row.w + static_cast<ptrdiff_t>(tap) * s.in * row.width;
    for (int32_t c = 0; c < s.in; ++c)
      add_scaled(tile, x + c * s.x_channel, x_pixel, w + c * row.width);
  });
  finish(tile, end, row.c + out[2] * end.c_row, row.y + out[2] * s.axis[2].y_step, s.axis[2].y_step,
         s.y_channel);
}

// The positions [first, last) on the last axis all of whose taps lie inside the input.
struct Interior {
  int32_t first, last;
};

static inline Interior interior_of(const ConvAxis& a, bool transposed) {
  if (transposed) return {0, 0};  // taps of neighbours differ
  const int32_t first = (a.pad + a.stride - 1) / a.stride;
  const int32_t reach = a.in - 1 + a.pad - (a.kernel - 1) * a.dilation;
  const int32_t last = reach < 0 ? 0 : reach / a.stride + 1;
  const int32_t end = last < a.out ? last : a.out;
  return {first < end ? first : end, end};
}

// All positions on the last axis for some vectors of columns.
template <int lanes, int count, int pixels>
static inline void float_row(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                             Interior interior, int32_t* out) {
  out[2] = 0;
  for (; out[2] < interior.first; ++out[2]) float_tile<lanes, count, 1>(s, end, row, out);
  for (; out[2] + pixels <= interior.last; out[2] += pixels)
    float_tile<lanes, count, pixels>(s, end, row, out);
  for (; out[2] < s.axis[2].out; ++out[2]) float_tile<lanes, count, 1>(s, end, row, out);
}

// The next columns of a panel.
static inline void advance(FloatRow& row, int32_t columns, const FloatEnd& end,
                           ptrdiff_t y_channel) {
  row.w += columns;
  row.c += columns * end.c_column;
  row.y += columns * y_channel;
}

// `columns` columns of a panel: as many as possible in wide tiles, the rest in narrower vectors.
template <int lanes>
static inline void float_columns(const FloatConvShape& s, const FloatEnd& end, FloatRow row,
                                 Interior interior, int32_t columns, int32_t* out) {
  for (; columns >= 4 * lanes; columns -= 4 * lanes) {
    float_row<lanes, 4, 2>(s, end, row, interior, out);
    advance(row, 4 * lanes, end, s.y_channel);
  }
  if (columns >= 2 * lanes) {
    float_row<lanes, 2, 4>(s, end, row, interior, out);
    advance(row, 2 * lanes, end, s.y_channel);
    columns -= 2 * lanes;
  }
  if (columns >= lanes) {
    float_row<lanes, 1, 4>(s, end, row, interior, out);
    advance(row, lanes, end, s.y_channel);
    columns -= lanes;
  }
  if constexpr (lanes > 1) float_columns<narrower(lanes)>(s, end, row, interior, columns, out);
}

// Conv, ConvTranspose, and one pair of matrices of MatMul or Gemm; `w` is packed per group.
static inline void float_conv(const FloatConvShape& s, const FloatEnd& end, const float* x,
                              const float* w, const float* c, float* y) {
  const int32_t taps = s.axis[0].kernel * s.axis[1].kernel * s.axis[2].kernel;
  const ptrdiff_t depth = static_cast<ptrdiff_t>(taps) * s.in;
  const Interior interior = interior_of(s.axis[2], s.transposed);
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      for (int32_t first = 0; first < s.out; first += kPanel) {
        const int32_t width = s.out - first < kPanel ? s.out - first : kPanel;
        const ptrdiff_t column = static_cast<ptrdiff_t>(g) * s.out + first;
        int32_t out[3];
        for (out[0] = 0; out[0] < s.axis[0].out; ++out[0]) {
          for (out[1] = 0; out[1] < s.axis[1].out; ++out[1]) {
            const FloatRow row{x + n * s.x_image + g * s.in * s.x_channel, w + column * depth,
                               width, c + column * end.c_column,
                               y + n * s.y_image + column * s.y_channel +
                                   out[0] * s.axis[0].y_step + out[1] * s.axis[1].y_step};
            float_columns<kFloatLanes>(s, end, row, interior, width, out);
          }
        }
      }
    }
  }
}

// ---- one input and one output channel per group ----

// `count` vectors of channels of one pixel.
template <int lanes, int count>
static inline void depthwise_tile(const FloatConvShape& s, const int32_t* out, const float* x,
                                  const float* w, const FloatEnd& end, const float* c, float* y) {
  Columns<lanes, count> sums;
  clear(sums);
  for_each_tap(s, out, [&](ptrdiff_t at, int32_t tap) {
    add_products(sums, x + at, w + static_cast<ptrdiff_t>(tap) * s.group);
  });
  finish(sums, end, c, y, 1);
}

// All channels of one pixel from `channel` on.
template <int lanes>
static inline void depthwise_pixel(const FloatConvShape& s, const int32_t* out, int32_t channel,
                                   const float* x, const float* w, const FloatEnd& end,
                                   const float* c, float* y) {
  for (; channel + 4 * lanes <= s.group; channel += 4 * lanes)
    depthwise_tile<lanes, 4>(s, out, x + channel, w + channel, end, c + channel * end.c_column,
                             y + channel);
  for (; channel + lanes <= s.group; channel += lanes)
    depthwise_tile<lanes, 1>(s, out, x + channel, w + channel, end, c + channel * end.c_column,
                             y + channel);
  if constexpr (lanes > 1) depthwise_pixel<narrower(lanes)>(s, out, channel, x, w, end, c, y);
}

// Depthwise convolution, x and y with neighbouring channels; w[position * group + channel].
static inline void float_depthwise(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                   const float* w, const float* c, float* y) {
  for (int32_t n = 0; n < s.batch; ++n) {
    int32_t out[3];
    for (out[0] = 0; out[0] < s.axis[0].out; ++out[0]) {
      for (out[1] = 0; out[1] < s.axis[1].out; ++out[1]) {
        for (out[2] = 0; out[2] < s.axis[2].out; ++out[2]) {
          float* const at = y + n * s.y_image + out[0] * s.axis[0].y_step +
                            out[1] * s.axis[1].y_step + out[2] * s.axis[2].y_step;
          depthwise_pixel<kFloatLanes>(s, out, 0, x + n * s.x_image, w, end, c, at);
        }
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
