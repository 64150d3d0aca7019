// Float convolutions of tensors whose channels are planes (NCHW), for what layers at the border of
// a network see: no change of layout, vectors run along the lines. The sums are those of
// etch_float_products.h, in the same order, so the bits are, too: a position in the padding is
// multiplied as 0, which changes no sum as long as weights are finite. (A sum that starts at 0 is
// never -0.)
//
// Weights are packed in panels of a few output channels (etch_float_pack.h). A tile is up to six
// output channels times a few vectors of positions, whose sums stay in registers.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_products.h"

namespace etch {
namespace rt {

// The lines that tiles read: those of x, or copies with their padding, one group of one image at a
// time, whose elements are sorted by position modulo the stride. Lengths in floats.
struct FloatLines {
  bool copied;
  int32_t part;                    // positions of one remainder
  ptrdiff_t line, plane, channel;  // from one line, plane or channel to the next
};

// Lines without padding and stride are read where they are, unless channels meet in a cache.
static inline FloatLines lines_of(const FloatConvShape& s) {
  const ConvAxis& a = s.axis[2];
  const int32_t last = (a.out - 1) * a.stride + (a.kernel - 1) * a.dilation;
  constexpr ptrdiff_t kPage = 1024, kApart = 16;
  const bool inside = a.pad == 0 && a.stride == 1 && last < a.in;
  if (inside && (s.in < 8 || s.x_channel % kPage != 0))
    return {false, a.in, s.axis[1].x_step, s.axis[0].x_step, s.x_channel};
  const int32_t part = last / a.stride + 1;
  const ptrdiff_t line = static_cast<ptrdiff_t>(part) * a.stride;
  const ptrdiff_t plane = line * s.axis[1].in;
  const ptrdiff_t channel = plane * s.axis[0].in;
  return {true, part, line, plane, channel % kPage == 0 ? channel + kApart : channel};
}

// Floats that the copies take.
static inline ptrdiff_t floats_of_lines(const FloatConvShape& s) {
  const FloatLines lines = lines_of(s);
  return lines.copied ? lines.channel * s.in : 1;
}

// to[i] = from[i * step]
static inline void copy_apart(const float* from, ptrdiff_t step, float* to, int32_t n) {
  if (step == 1) {
    ETCH_MEMCPY(to, from, sizeof(float) * static_cast<size_t>(n));
    return;
  }
  for (int32_t i = 0; i < n; ++i) to[i] = from[i * step];
}

static inline void clear_floats(float* to, int32_t n) {
  for (int32_t i = 0; i < n; ++i) to[i] = 0.0f;
}

// One line: positions -pad, -pad + stride, ... of x, then those after each of them; zeros outside.
static inline void copy_line(const ConvAxis& a, int32_t part, const float* x, float* line) {
  for (int32_t phase = 0; phase < a.stride; ++phase, line += part) {
    int32_t first = (a.pad - phase + a.stride - 1) / a.stride;  // the first that is in x
    if (a.pad < phase) first = 0;
    const int32_t at = first * a.stride + phase - a.pad;
    const int32_t inside = at < a.in ? (a.in - 1 - at) / a.stride + 1 : 0;
    first = first < part ? first : part;
    const int32_t n = inside < part - first ? inside : part - first;
    clear_floats(line, first);
    copy_apart(x + at, a.stride, line + first, n);
    clear_floats(line + first + n, part - first - n);
  }
}

static inline void copy_lines(const FloatConvShape& s, const FloatLines& lines, const float* x,
                              float* to) {
  for (int32_t c = 0; c < s.in; ++c) {
    float* line = to + c * lines.channel;
    for (int32_t d = 0; d < s.axis[0].in; ++d) {
      for (int32_t h = 0; h < s.axis[1].in; ++h, line += lines.line) {
        copy_line(s.axis[2], lines.part,
                  x + c * s.x_channel + d * s.axis[0].x_step + h * s.axis[1].x_step, line);
      }
    }
  }
}

// What the tiles of one line of outputs have in common.
struct PlaneRow {
  const float* x;  // the lines of the group
  const float* w;  // the panel, at its first channel of the tile
  int32_t width;   // channels of the panel
  const float* c;  // of the first channel of the tile
  float* y;        // position 0 of the line, in its plane
};

// One vector of results, of which the first `n` lanes are stored.
template <int lanes>
ETCH_INLINE void finish_vector(const Floats<lanes>& sums, const Floats<lanes>& c, bool relu,
                               float* y, int32_t n) {
  const Floats<lanes> added = sum(sums, c);
  const Floats<lanes> result = relu ? not_negative(added) : added;
  if (n >= lanes) {
    store(y, result);
  } else {
    store_some(y, result, n);
  }
}

// Vectors of a line: `count` of them, `apart` positions from one to the next, which is less than
// `lanes` where they share some; only `n` lanes count if n < lanes.
struct Span {
  int32_t out, apart, n;
};

template <int lanes, int count>
ETCH_INLINE void finish_line(const Columns<lanes, count>& sums, const Floats<lanes>& c, bool relu,
                             float* y, const Span& at) {
  finish_vector(sums.first, c, relu, y, at.n);
  if constexpr (count > 1) finish_line(sums.rest, c, relu, y + at.apart, at);
}

template <int lanes, int count, int rows>
ETCH_INLINE void finish_lines(const Tile<lanes, count, rows>& tile, const FloatEnd& end,
                              const float* c, float* y, ptrdiff_t y_channel, const Span& at) {
  finish_line(tile.first, all_lanes<lanes>(*c), end.relu != 0, y, at);
  if constexpr (rows > 1)
    finish_lines(tile.rest, end, c + end.c_column, y + y_channel, y_channel, at);
}

// x, in a register: read once for all rows of a tile, since it may cross two lines of a cache.
template <int lanes>
ETCH_INLINE Floats<lanes> in_register(const Floats<lanes>& x) {
  Floats<lanes> out = x;
#if defined(__GNUC__) && defined(__AVX512F__)
  if constexpr (lanes > 1) __asm__("" : "+v"(out.v));
#elif defined(__GNUC__) && defined(__SSE2__)
  if constexpr (lanes > 1) __asm__("" : "+x"(out.v));
#endif
  return out;
}

template <bool some, int lanes, int count>
ETCH_INLINE void load_line(Columns<lanes, count>& columns, const float* x, const Span& at) {
  if constexpr (some) {
    columns.first = in_register(load_some<lanes>(x, 1, at.n));
  } else {
    columns.first = in_register(load<lanes>(x));
  }
  if constexpr (count > 1) load_line<some>(columns.rest, x + at.apart, at);
}

// sums[j] += x[j] * w
template <int lanes, int count>
ETCH_INLINE void add_weighted(Columns<lanes, count>& sums, const float* w,
                              const Columns<lanes, count>& x) {
  sums.first = sum(sums.first, product_of_one(w, x.first));
  if constexpr (count > 1) add_weighted(sums.rest, w, x.rest);
}

// tile[row][j] += x[j] * w[row]
template <int lanes, int count, int rows>
ETCH_INLINE void add_line(Tile<lanes, count, rows>& tile, const float* w,
                          const Columns<lanes, count>& x) {
  add_weighted(tile.first, w, x);
  if constexpr (rows > 1) add_line(tile.rest, w + 1, x);
}

// `rows` channels times `count` vectors of positions.
template <bool some, int lanes, int count, int rows>
static inline void plane_tile(const FloatConvShape& s, const FloatLines& lines, const FloatEnd& end,
                              const PlaneRow& row, const Window& window, const Span& at) {
  Tile<lanes, count, rows> tile;
  clear(tile);
  const TapRange& d = window.axis[0];
  const TapRange& h = window.axis[1];
  const ConvAxis& a = s.axis[2];
  const int32_t in = s.in, width = row.width;
  for (int32_t i = 0; i < d.count; ++i) {
    for (int32_t j = 0; j < h.count; ++j) {
      const float* const line =
          row.x + at.out + (d.x + i * d.x_step) * lines.plane + (h.x + j * h.x_step) * lines.line;
      const int32_t first = (d.first + i * d.step) * s.axis[1].kernel + h.first + j * h.step;
      const float* w = row.w + static_cast<ptrdiff_t>(first) * a.kernel * in * width;
      for (int32_t k = 0; k < a.kernel; ++k) {
        const int32_t to = k * a.dilation;
        const float* x = line + (to % a.stride) * lines.part + to / a.stride;
        for (int32_t c = 0; c < in; ++c, x += lines.channel, w += width) {
          Columns<lanes, count> columns;
          load_line<some>(columns, x, at);
          add_line(tile, w, columns);
        }
      }
    }
  }
  finish_lines(tile, end, row.c, row.y + at.out, s.y_channel, at);
}

// All channels of a panel.
template <bool some, int lanes, int count, int rows>
ETCH_INLINE void plane_panel(const FloatConvShape& s, const FloatLines& lines, const FloatEnd& end,
                             PlaneRow row, const Window& window, const Span& at, int32_t left) {
  for (; left >= rows; left -= rows) {
    plane_tile<some, lanes, count, rows>(s, lines, end, row, window, at);
    row.w += rows;
    row.c += rows * end.c_column;
    row.y += rows * s.y_channel;
  }
  if constexpr (rows > 1)
    plane_panel<some, lanes, count, (rows > 4 ? rows - 2 : rows / 2)>(s, lines, end, row, window,
                                                                      at, left);
}

// Channels of a tile of `count` vectors at most: their sums fill the registers of AVX-512, or half
// of the 16 that others have.
static constexpr int plane_rows(int count) {
  if (kFloatLanes < 16) return 4;
  return count > 2 ? 6 : 8;
}

static inline ptrdiff_t depth_of(const FloatConvShape& s) {
  return static_cast<ptrdiff_t>(s.axis[0].kernel) * s.axis[1].kernel * s.axis[2].kernel * s.in;
}

// All channels of a group.
template <bool some, int lanes, int count>
static inline void plane_columns(const FloatConvShape& s, const FloatLines& lines,
                                 const FloatEnd& end, PlaneRow row, const Window& window,
                                 const Span& at) {
  const ptrdiff_t depth = depth_of(s);
  for (int32_t first = 0; first < s.out; first += s.panel) {
    row.width = s.out - first < s.panel ? s.out - first : s.panel;
    plane_panel<some, lanes, count, plane_rows(count)>(s, lines, end, row, window, at, row.width);
    row.w += row.width * depth;
    row.c += row.width * end.c_column;
    row.y += row.width * s.y_channel;
  }
}

// One line of outputs. What does not fill vectors is computed with some positions twice or, if the
// line is shorter, in a part of one.
template <int lanes>
static inline void plane_line(const FloatConvShape& s, const FloatLines& lines, const FloatEnd& end,
                              const PlaneRow& row, const Window& window) {
  const int32_t n = s.axis[2].out;
  if constexpr (lanes > 1) {
    if (n <= lanes / 2 || (lanes == 4 && n < 4))
      return plane_line<narrower(lanes)>(s, lines, end, row, window);
    if (n < lanes) return plane_columns<true, lanes, 1>(s, lines, end, row, window, {0, 0, n});
  }
  int32_t out = 0;
  if constexpr (lanes == kFloatLanes && lanes > 1) {
    constexpr int kMost = lanes == 16 ? 4 : 2;
    for (; n - out >= kMost * lanes; out += kMost * lanes)
      plane_columns<false, lanes, kMost>(s, lines, end, row, window, {out, lanes, lanes});
    if (n - out > lanes) {
      const int32_t all = n - out < 2 * lanes && n >= 2 * lanes ? 2 * lanes : n - out;
      const int32_t apart = all < 2 * lanes ? all - lanes : lanes;
      out = all == n - out ? out : n - all;
      plane_columns<false, lanes, 2>(s, lines, end, row, window, {out, apart, lanes});
      out += lanes + apart;
    }
  }
  for (; n - out >= lanes; out += lanes)
    plane_columns<false, lanes, 1>(s, lines, end, row, window, {out, 0, lanes});
  if (out < n) plane_columns<false, lanes, 1>(s, lines, end, row, window, {n - lanes, 0, lanes});
}

// Conv; x and y with neighbouring positions on the last axis, `w` packed per group in panels of
// s.panel channels; `lines` for floats_of_lines().
static inline void float_planes(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                const float* w, const float* c, float* y, float* lines) {
  const FloatLines how = lines_of(s);
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      const float* const from = x + n * s.x_image + g * s.in * s.x_channel;
      if (how.copied) copy_lines(s, how, from, lines);
      const ptrdiff_t channel = static_cast<ptrdiff_t>(g) * s.out;
      for_each_row(s, [&](ptrdiff_t y_row, const Window& window) {
        const PlaneRow row{how.copied ? lines : from, w + channel * depth_of(s), 0,
                           c + channel * end.c_column,
                           y + n * s.y_image + channel * s.y_channel + y_row};
        plane_line<kFloatLanes>(s, how, end, row, window);
      });
    }
  }
}

// ---- depthwise, in two dimensions without strides ----

// One plane with zeros around it: lines with a gap between them that is both the padding after one
// and that before the next. Vectors may write past the end of a line before what follows is
// written.
struct PaddedPlane {
  int32_t gap, lines;  // lines: of zeros as well
  ptrdiff_t line, floats;
};

static inline PaddedPlane padded_plane(const FloatConvShape& s) {
  const ConvAxis& a = s.axis[2];
  const ConvAxis& h = s.axis[1];
  constexpr ptrdiff_t kSlack = 2 * 16;
  const int32_t after = a.out - 1 + (a.kernel - 1) * a.dilation - a.pad - (a.in - 1);
  const int32_t gap = after > a.pad ? after : a.pad;
  int32_t lines = h.out + (h.kernel - 1) * h.dilation;
  lines = lines > h.pad + h.in ? lines : h.pad + h.in;
  const ptrdiff_t line = a.in + gap;
  return {gap, lines, line, gap + lines * line + kSlack};
}

// One line, in vectors; of x `left` floats may be read, at least n.
template <int lanes>
ETCH_INLINE void copy_vectors(const float* x, ptrdiff_t left, float* line, int32_t n) {
  int32_t i = 0;
  for (; i < n && left - i >= lanes; i += lanes) store(line + i, load<lanes>(x + i));
  if (i < n) store(line + i, load_some<lanes>(x + i, 1, n - i));
}

// x to the lines after the padding, and zeros to the gaps after them.
static inline void copy_plane(const FloatConvShape& s, const PaddedPlane& p, const float* x,
                              float* to) {
  constexpr int kLanes = kFloatLanes;
  const ConvAxis& h = s.axis[1];
  const int32_t n = s.axis[2].in;
  const Floats<kLanes> zeros = all_lanes<kLanes>(0.0f);
  float* line = to + p.gap + h.pad * p.line;
  for (int32_t i = 0; i < h.in; ++i, line += p.line) {
    copy_vectors<kLanes>(x + i * h.x_step, (h.in - 1 - i) * h.x_step + n, line, n);
    for (int32_t j = 0; j < p.gap; j += kLanes) store(line + n + j, zeros);
  }
}

// Where a tile of a plane reads and writes.
struct PlaneTile {
  const float* x;
  ptrdiff_t line;
  const float* w;
  int32_t dilation[2], kernel[2];
};

template <int lanes, int rows>
ETCH_INLINE void add_lines(Columns<lanes, rows>& sums, const float* x, ptrdiff_t line,
                           const float* w) {
  sums.first = sum(sums.first, product_of_one(w, load<lanes>(x)));
  if constexpr (rows > 1) add_lines(sums.rest, x + line, line, w);
}

// One vector of x for the output lines from `first` to `last`; w at its weight for line 0.
template <int first, int last, int row, int lanes, int rows>
ETCH_INLINE void add_to_lines(Columns<lanes, rows>& sums, const Floats<lanes>& x, const float* w,
                              ptrdiff_t w_line) {
  if constexpr (row >= first && row <= last)
    sums.first = sum(sums.first, product_of_one(w - row * w_line, x));
  if constexpr (rows > 1) add_to_lines<first, last, row + 1>(sums.rest, x, w, w_line);
}

// One line of x.
template <int first, int last, int lanes, int rows>
ETCH_INLINE void add_one_line(Columns<lanes, rows>& sums, const PlaneTile& t, int32_t at) {
  const int32_t width = t.kernel[1];
  const float* x = t.x + at * t.line;
  const float* w = t.w + at * width;
  for (int32_t k = 0; k < width; ++k, ++w, x += t.dilation[1])
    add_to_lines<first, last, 0>(sums, in_register(load<lanes>(x)), w, width);
}

// The lines before those that all output lines take: line i for lines 0 to i.
template <int i, int lanes, int rows>
ETCH_INLINE void add_first_lines(Columns<lanes, rows>& sums, const PlaneTile& t) {
  add_one_line<0, i>(sums, t, i);
  if constexpr (i + 2 < rows) add_first_lines<i + 1>(sums, t);
}

// The lines after them: for lines i to the last.
template <int i, int lanes, int rows>
ETCH_INLINE void add_last_lines(Columns<lanes, rows>& sums, const PlaneTile& t) {
  add_one_line<i, rows - 1>(sums, t, t.kernel[0] - 1 + i);
  if constexpr (i + 1 < rows) add_last_lines<i + 1>(sums, t);
}

// `rows` neighbouring lines, one vector of each: a kernel of at least so many lines, which are
// neighbours, too. Each vector of x is loaded once; every sum still takes its taps line by line.
template <int lanes, int rows>
ETCH_INLINE void sum_neighbours(Columns<lanes, rows>& sums, const PlaneTile& t) {
  if constexpr (rows > 1) add_first_lines<0>(sums, t);
  for (int32_t at = rows - 1; at < t.kernel[0]; ++at) add_one_line<0, rows - 1>(sums, t, at);
  if constexpr (rows > 1) add_last_lines<1>(sums, t);
}

// The same for any kernel.
template <int lanes, int rows>
ETCH_INLINE void sum_taps(Columns<lanes, rows>& sums, const PlaneTile& t, Width<0>) {
  if (t.dilation[0] == 1 && t.kernel[0] >= rows) return sum_neighbours(sums, t);
  const float* w = t.w;
  for (int32_t i = 0; i < t.kernel[0]; ++i) {
    const float* x = t.x + i * t.dilation[0] * t.line;
    for (int32_t k = 0; k < t.kernel[1]; ++k, x += t.dilation[1], ++w)
      add_lines(sums, x, t.line, w);
  }
}

// The taps of line `at` of x for output line `row` and those after it; w at the tap's column.
template <int at, int row, int kernel, int lanes, int rows>
ETCH_INLINE void add_tap(Columns<lanes, rows>& sums, const Floats<lanes>& x, const float* w) {
  if constexpr (at >= row && at - row < kernel)
    sums.first = sum(sums.first, product_of_one(w + (at - row) * kernel, x));
  if constexpr (rows > 1) add_tap<at, row + 1, kernel>(sums.rest, x, w);
}

template <int at, int k, int kernel, int lanes, int rows>
ETCH_INLINE void add_taps(Columns<lanes, rows>& sums, const float* x, ptrdiff_t line,
                          const float* w) {
  add_tap<at, 0, kernel>(sums, in_register(load<lanes>(x + k)), w + k);
  if constexpr (k + 1 < kernel) {
    add_taps<at, k + 1, kernel>(sums, x, line, w);
  } else if constexpr (at + 1 < rows + kernel - 1) {
    add_taps<at + 1, 0, kernel>(sums, x + line, line, w);
  }
}

// The same for a square kernel without dilation: each vector of x is loaded once for all lines.
// Every sum still takes its taps line by line.
template <int lanes, int rows, int kernel>
ETCH_INLINE void sum_taps(Columns<lanes, rows>& sums, const PlaneTile& t, Width<kernel>) {
  add_taps<0, 0, kernel>(sums, t.x, t.line, t.w);
}

// One vector of each line. From y on `room` floats may be written, `less` fewer from the next line
// on.
template <int lanes, int rows>
ETCH_INLINE void finish_plane(const Columns<lanes, rows>& sums, const Floats<lanes>& c, bool relu,
                              float* y, ptrdiff_t y_line, int32_t room, int32_t less) {
  finish_vector(sums.first, c, relu, y, room);
  if constexpr (rows > 1) finish_plane(sums.rest, c, relu, y + y_line, y_line, room - less, less);
}

// `rows` lines of n outputs from x and y on; `left` lines of the plane are left. What is stored too
// much of a short line is overwritten by the next ones.
template <int lanes, int rows, class Kernel>
static inline void plane_lines(PlaneTile t, const Floats<lanes>& c, bool relu, int32_t n, float* y,
                               ptrdiff_t y_line, int32_t left, Kernel kernel) {
  Columns<lanes, rows> sums;
  if (n < lanes) {
    clear(sums);
    sum_taps(sums, t, kernel);
    const bool dense = y_line == n;
    finish_plane(sums, c, relu, y, y_line, dense ? left * n : n, dense ? n : 0);
    return;
  }
  const float* const x = t.x;
  for (int32_t out = 0; out < n; out += lanes) {
    const int32_t at = out < n - lanes ? out : n - lanes;
    t.x = x + at;
    clear(sums);
    sum_taps(sums, t, kernel);
    finish_plane(sums, c, relu, y + at, y_line, lanes, 0);
  }
}

template <int lanes, class Kernel>
static inline void depthwise_plane(const FloatConvShape& s, const PaddedPlane& p,
                                   const FloatEnd& end, const float* plane, const float* w,
                                   const float* c, float* y, Kernel kernel) {
  constexpr int kRows = 7;  // which divides the heights of most images
  const ConvAxis& a = s.axis[2];
  const ConvAxis& h = s.axis[1];
  const Floats<lanes> added = all_lanes<lanes>(*c);
  PlaneTile t{plane + p.gap - a.pad, p.line, w, {h.dilation, a.dilation}, {h.kernel, a.kernel}};
  int32_t out = 0;
  const auto lines = [&](auto rows) {
    PlaneTile at = t;
    at.x += out * p.line;
    plane_lines<lanes, decltype(rows)::value>(at, added, end.relu != 0, a.out, y + out * h.y_step,
                                              h.y_step, h.out - out, kernel);
  };
  if (h.out < kRows) {
    for (; out < h.out; ++out) lines(Width<1>{});
    return;
  }
  for (; out + kRows <= h.out; out += kRows) lines(Width<kRows>{});
  if (out < h.out) {
    out = h.out - kRows;
    lines(Width<kRows>{});
  }
}

template <int lanes>
static inline void depthwise_plane(const FloatConvShape& s, const PaddedPlane& p,
                                   const FloatEnd& end, const float* plane, const float* w,
                                   const float* c, float* y) {
  if constexpr (lanes > 4) {
    if (s.axis[2].out <= lanes / 2)
      return depthwise_plane<narrower(lanes)>(s, p, end, plane, w, c, y);
  }
  const auto is_square = [&](int32_t size) {
    return s.axis[1].kernel == size && s.axis[2].kernel == size && s.axis[1].dilation == 1 &&
           s.axis[2].dilation == 1;
  };
  if (is_square(3)) return depthwise_plane<lanes>(s, p, end, plane, w, c, y, Width<3>{});
  if (is_square(5)) return depthwise_plane<lanes>(s, p, end, plane, w, c, y, Width<5>{});
  depthwise_plane<lanes>(s, p, end, plane, w, c, y, Width<0>{});
}

// w[channel * taps + tap]; `lines` for padded_plane().floats.
static inline void float_depthwise_planes(const FloatConvShape& s, const FloatEnd& end,
                                          const float* x, const float* w, const float* c, float* y,
                                          float* lines) {
  const PaddedPlane p = padded_plane(s);
  clear_floats(lines, static_cast<int32_t>(p.floats));
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      copy_plane(s, p, x + n * s.x_image + g * s.x_channel, lines);
      depthwise_plane<kFloatLanes>(s, p, end, lines, w + g * depth_of(s), c + g * end.c_column,
                                   y + n * s.y_image + g * s.y_channel);
    }
  }
}

}  // namespace rt
}  // namespace etch
