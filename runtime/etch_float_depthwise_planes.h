// Depthwise float convolutions of tensors whose channels are planes, in two dimensions without
// strides: each plane is copied with zeros around it, a tile is up to four neighbouring lines of
// one vector, and each vector of x is loaded once for all of them. The bits are those of
// etch_float_planes.h.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_planes.h"

namespace etch {
namespace rt {

// One plane with zeros around it: lines with a gap between them that is both the padding after one
// and that before the next. Vectors may write past the end of a line before what follows is
// written. Of small planes there are two copies, one of which is written while the other is read:
// loads that need the bytes of several stores wait until these are in the cache.
struct PaddedPlane {
  int32_t gap, lines;  // lines: of zeros as well
  ptrdiff_t line;
  ptrdiff_t next;    // from the copy of one plane to that of the next; 0 where there is one
  ptrdiff_t floats;  // of all copies
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
  const ptrdiff_t floats = gap + lines * line + kSlack;
  constexpr ptrdiff_t kSmall = 2048;
  const bool twice = floats <= kSmall && (s.group > 1 || s.batch > 1);
  return {gap, lines, line, twice ? floats : 0, twice ? 2 * floats : floats};
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

template <class Steps, int lanes, int rows>
ETCH_INLINE void add_lines(Columns<lanes, rows>& sums, const float* x, ptrdiff_t line,
                           const float* w) {
  sums.first = Steps::add_one(sums.first, w, load<lanes>(x));
  if constexpr (rows > 1) add_lines<Steps>(sums.rest, x + line, line, w);
}

// One vector of x for the output lines from `first` to `last`; w at its weight for line 0.
template <class Steps, int first, int last, int row, int lanes, int rows>
ETCH_INLINE void add_to_lines(Columns<lanes, rows>& sums, const Floats<lanes>& x, const float* w,
                              ptrdiff_t w_line) {
  if constexpr (row >= first && row <= last)
    sums.first = Steps::add_one(sums.first, w - row * w_line, x);
  if constexpr (rows > 1) add_to_lines<Steps, first, last, row + 1>(sums.rest, x, w, w_line);
}

// One line of x.
template <class Steps, int first, int last, int lanes, int rows>
ETCH_INLINE void add_one_line(Columns<lanes, rows>& sums, const PlaneTile& t, int32_t at) {
  const int32_t width = t.kernel[1];
  const float* x = t.x + at * t.line;
  const float* w = t.w + at * width;
  for (int32_t k = 0; k < width; ++k, ++w, x += t.dilation[1])
    add_to_lines<Steps, first, last, 0>(sums, in_register(load<lanes>(x)), w, width);
}

// The lines before those that all output lines take: line i for lines 0 to i.
template <class Steps, int i, int lanes, int rows>
ETCH_INLINE void add_first_lines(Columns<lanes, rows>& sums, const PlaneTile& t) {
  add_one_line<Steps, 0, i>(sums, t, i);
  if constexpr (i + 2 < rows) add_first_lines<Steps, i + 1>(sums, t);
}

// The lines after them: for lines i to the last.
template <class Steps, int i, int lanes, int rows>
ETCH_INLINE void add_last_lines(Columns<lanes, rows>& sums, const PlaneTile& t) {
  add_one_line<Steps, i, rows - 1>(sums, t, t.kernel[0] - 1 + i);
  if constexpr (i + 1 < rows) add_last_lines<Steps, i + 1>(sums, t);
}

// `rows` neighbouring lines, one vector of each: a kernel of at least so many lines, which are
// neighbours, too. Each vector of x is loaded once; every sum still takes its taps line by line.
template <class Steps, int lanes, int rows>
ETCH_INLINE void sum_neighbours(Columns<lanes, rows>& sums, const PlaneTile& t) {
  if constexpr (rows > 1) add_first_lines<Steps, 0>(sums, t);
  for (int32_t at = rows - 1; at < t.kernel[0]; ++at) add_one_line<Steps, 0, rows - 1>(sums, t, at);
  if constexpr (rows > 1) add_last_lines<Steps, 1>(sums, t);
}

// The same for any kernel.
template <class Steps, int lanes, int rows>
ETCH_INLINE void sum_taps(Columns<lanes, rows>& sums, const PlaneTile& t, Width<0>) {
  if (t.dilation[0] == 1 && t.kernel[0] >= rows) return sum_neighbours<Steps>(sums, t);
  const float* w = t.w;
  for (int32_t i = 0; i < t.kernel[0]; ++i) {
    const float* x = t.x + i * t.dilation[0] * t.line;
    for (int32_t k = 0; k < t.kernel[1]; ++k, x += t.dilation[1], ++w)
      add_lines<Steps>(sums, x, t.line, w);
  }
}

// The taps of line `at` of x for output line `row` and those after it; w at the tap's column.
template <class Steps, int at, int row, int kernel, int lanes, int rows>
ETCH_INLINE void add_tap(Columns<lanes, rows>& sums, const Floats<lanes>& x, const float* w) {
  if constexpr (at >= row && at - row < kernel)
    sums.first = Steps::add_one(sums.first, w + (at - row) * kernel, x);
  if constexpr (rows > 1) add_tap<Steps, at, row + 1, kernel>(sums.rest, x, w);
}

template <class Steps, int at, int k, int kernel, int lanes, int rows>
ETCH_INLINE void add_taps(Columns<lanes, rows>& sums, const float* x, ptrdiff_t line,
                          const float* w) {
  add_tap<Steps, at, 0, kernel>(sums, in_register(load<lanes>(x + k)), w + k);
  if constexpr (k + 1 < kernel) {
    add_taps<Steps, at, k + 1, kernel>(sums, x, line, w);
  } else if constexpr (at + 1 < rows + kernel - 1) {
    add_taps<Steps, at + 1, 0, kernel>(sums, x + line, line, w);
  }
}

// The same for a square kernel without dilation: each vector of x is loaded once for all lines.
// Every sum still takes its taps line by line.
template <class Steps, int lanes, int rows, int kernel>
ETCH_INLINE void sum_taps(Columns<lanes, rows>& sums, const PlaneTile& t, Width<kernel>) {
  add_taps<Steps, 0, 0, kernel>(sums, t.x, t.line, t.w);
}

// One vector of each line. From y on `room` floats may be written, `less` fewer from the next line
// on.
template <int lanes, int rows>
ETCH_INLINE void finish_plane(const Columns<lanes, rows>& sums, const Floats<lanes>& c,
                              const FloatEnd& end, float* y, ptrdiff_t y_line, int32_t room,
                              int32_t less) {
  finish_vector(sums.first, c, end, y, room);
  if constexpr (rows > 1) finish_plane(sums.rest, c, end, y + y_line, y_line, room - less, less);
}

// `rows` lines of n outputs from x and y on; `left` lines of the plane are left. What is stored too
// much of a short line is overwritten by the next ones.
template <class Steps, int lanes, int rows, class Kernel>
static inline void plane_lines(PlaneTile t, const Floats<lanes>& c, const FloatEnd& end, int32_t n,
                               float* y, ptrdiff_t y_line, int32_t left, Kernel kernel) {
  Columns<lanes, rows> sums;
  if (n < lanes) {
    clear(sums);
    sum_taps<Steps>(sums, t, kernel);
    end_sums<Steps>(sums);
    const bool dense = y_line == n;
    finish_plane(sums, c, end, y, y_line, dense ? left * n : n, dense ? n : 0);
    return;
  }
  const float* const x = t.x;
  for (int32_t out = 0; out < n; out += lanes) {
    const int32_t at = out < n - lanes ? out : n - lanes;
    t.x = x + at;
    clear(sums);
    sum_taps<Steps>(sums, t, kernel);
    end_sums<Steps>(sums);
    finish_plane(sums, c, end, y + at, y_line, lanes, 0);
  }
}

// What the tiles of a plane have in common.
struct PlaneLines {
  const float* c;  // of its channel
  float* y;
  const FloatEnd* end;
};

// All lines, in tiles of `rows`; the last one takes some of them twice.
template <class Steps, int lanes, int rows, class Kernel>
ETCH_INLINE void depthwise_lines(const FloatConvShape& s, PlaneTile t, const PlaneLines& lines,
                                 Kernel kernel) {
  const ConvAxis& h = s.axis[1];
  const Floats<lanes> added = all_lanes<lanes>(*lines.c);
  const float* const x = t.x;
  for (int32_t out = 0; out < h.out; out += rows) {
    const int32_t at = out < h.out - rows ? out : h.out - rows;
    t.x = x + at * t.line;
    plane_lines<Steps, lanes, rows>(t, added, *lines.end, s.axis[2].out, lines.y + at * h.y_step,
                                    h.y_step, h.out - at, kernel);
  }
}

// What float_depthwise_planes() is compiled for: `size` of a square kernel without dilation, or 0
// for any other; lines of a tile; the most lanes that lines fill.
struct DepthwiseTile {
  int32_t size, rows, most;
};

// Three or four lines, so that few are computed twice: more lines share more loads, but wait for
// more of them (3x3 of 64 x 64, AVX-512: 3 lines 43 us, 4 45, 5 and 6 49, 7 61), except where a
// kernel of seven and more keeps all of them busy.
static inline DepthwiseTile depthwise_tile_of(const FloatConvShape& s) {
  const ConvAxis& h = s.axis[1];
  const ConvAxis& a = s.axis[2];
  const int32_t n = h.out;
  const bool known = h.kernel == a.kernel && h.dilation == 1 && a.dilation == 1;
  const int32_t size = known && (h.kernel == 3 || h.kernel == 5) ? h.kernel : 0;
  int32_t rows = (n + 2) / 3 * 3 < (n + 3) / 4 * 4 ? 3 : 4;
  if (n < 3) rows = 1;
  if (n >= 7 && h.kernel >= 7 && h.dilation == 1) rows = 7;
  return {size, rows, a.out <= 4 ? 4 : (a.out <= 8 ? 8 : 16)};
}

// w[channel * taps + tap]; `lines` for padded_plane().floats. The template's arguments are what
// depthwise_tile_of() says, so that no other kind is compiled.
template <int size, int rows, int most, class Steps = Separate>
static inline void float_depthwise_planes(const FloatConvShape& s, const FloatEnd& end,
                                          const float* x, const float* w, const float* c, float* y,
                                          float* lines) {
  constexpr int kLanes = kFloatLanes < most ? kFloatLanes : most;
  const PaddedPlane p = padded_plane(s);
  const ConvAxis& a = s.axis[2];
  const ConvAxis& h = s.axis[1];
  const int32_t planes = s.batch * s.group, ahead = p.next != 0 ? 1 : 0;
  clear_floats(lines, static_cast<int32_t>(p.floats));
  for (int32_t i = -ahead; i < planes; ++i) {
    const int32_t next = i + ahead;
    if (next < planes)
      copy_plane(s, p, x + next / s.group * s.x_image + next % s.group * s.x_channel,
                 lines + next % 2 * p.next);
    if (i < 0) continue;
    const int32_t g = i % s.group;
    const PlaneTile t{lines + i % 2 * p.next + p.gap - a.pad,
                      p.line,
                      w + g * depth_of(s),
                      {h.dilation, a.dilation},
                      {h.kernel, a.kernel}};
    const PlaneLines to{c + g * end.c_column, y + i / s.group * s.y_image + g * s.y_channel, &end};
    depthwise_lines<Steps, kLanes, rows>(s, t, to, Width<size>{});
  }
}

}  // namespace rt
}  // namespace etch
