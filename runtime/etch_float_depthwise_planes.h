// Depthwise float convolutions of tensors whose channels are planes, in two dimensions without
// strides: each plane is copied with zeros around it, a tile is up to seven neighbouring lines of
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
