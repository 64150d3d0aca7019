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
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

// The lines that tiles read: those of x, or copies with their padding, one group of one image at a
// time, whose elements are sorted by position modulo the stride. Lengths in floats.
struct FloatLines {
  bool copied;
  int32_t part;                    // positions of one remainder
  ptrdiff_t line, plane, channel;  // from one line, plane or channel to the next
};

// In which steps a line of the kernel is taken: runs of `length` steps, which are `step` apart in
// x: the channels of a tap, or where there is one channel, as many taps as are equally far apart.
// `next` is from one run to the next, and `back` besides, where remainders by the stride begin
// anew.
struct LineRuns {
  int32_t length, remainder;
  ptrdiff_t step, next, back;
};

static inline LineRuns runs_of(const FloatConvShape& s, const FloatLines& lines) {
  const ConvAxis& a = s.axis[2];
  if (s.in == 1 && a.stride == 1) return {a.kernel, 0, a.dilation, 0, 0};
  if (s.in == 1 && a.dilation == 1) return {a.stride, 0, lines.part, 1, 0};
  const int32_t remainder = a.dilation % a.stride;
  return {s.in, remainder, lines.channel,
          static_cast<ptrdiff_t>(remainder) * lines.part + a.dilation / a.stride,
          1 - static_cast<ptrdiff_t>(a.stride) * lines.part};
}

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

// Lines of outputs whose copies of x stay in a near cache while they are read; all of them where
// they are few, where x is deeper than an image, and where neighbouring blocks would share much.
static inline FloatConvShape block_of_lines(const FloatConvShape& s) {
  constexpr ptrdiff_t kNear = 16384, kLeast = 2;  // floats
  const ConvAxis& a = s.axis[1];
  const FloatLines all = lines_of(s);
  if (!all.copied || s.in < 1 || s.axis[0].in > 1 || s.axis[0].out > 1) return s;
  const ptrdiff_t reach = static_cast<ptrdiff_t>(a.kernel - 1) * a.dilation;
  const ptrdiff_t most = kNear / (all.line * s.in) - reach;
  if (most < kLeast * reach || most < a.stride) return s;
  const ptrdiff_t rows = (most - 1) / a.stride + 1;
  if (rows >= a.out) return s;
  FloatConvShape block = s;
  block.axis[1].out = static_cast<int32_t>(rows);
  block.axis[1].in = static_cast<int32_t>((rows - 1) * a.stride + reach + 1);
  return block;
}

// Floats that the copies of float_planes() take.
static inline ptrdiff_t floats_of_blocks(const FloatConvShape& s) {
  return floats_of_lines(block_of_lines(s));
}

// The block from line `first` of outputs on: its shape, and the first line of x that is in it.
struct BlockOfLines {
  FloatConvShape shape;
  int32_t x;
};
static inline BlockOfLines block_from(const FloatConvShape& s, int32_t first, int32_t rows,
                                      int32_t lines) {
  const ConvAxis& all = s.axis[1];
  const int32_t start = first * all.stride - all.pad, x = start > 0 ? start : 0;
  BlockOfLines block{s, x};
  ConvAxis& a = block.shape.axis[1];
  a.out = all.out - first < rows ? all.out - first : rows;
  const int32_t left = all.in > x ? all.in - x : 0;
  a.in = left < lines ? left : lines;
  a.pad = x - start;
  return block;
}

#if defined(__GNUC__) && defined(__AVX__)
ETCH_INLINE __m256 load_halves(const float* low, const float* high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}
#endif

// to[i] = from[2 * i] for as many as vectors have; how many.
static inline int32_t copy_every_other(const float* from, float* to, int32_t n) {
  int32_t i = 0;
#if defined(__GNUC__) && defined(__AVX__)
  for (; i + 8 < n; i += 8) {  // one more is left: the last vector ends before the last element
    const __m256 a = load_halves(from + 2 * i, from + 2 * i + 8);
    const __m256 b = load_halves(from + 2 * i + 4, from + 2 * i + 12);
    _mm256_storeu_ps(to + i, _mm256_shuffle_ps(a, b, 0x88));
  }
#endif
  static_cast<void>(from), static_cast<void>(to), static_cast<void>(n);
  return i;
}

// to[i] = from[i * step]
static inline void copy_apart(const float* from, ptrdiff_t step, float* to, int32_t n) {
  if (step == 1) {
    ETCH_MEMCPY(to, from, sizeof(float) * static_cast<size_t>(n));
    return;
  }
  for (int32_t i = step == 2 ? copy_every_other(from, to, n) : 0; i < n; ++i)
    to[i] = from[i * step];
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
  LineRuns runs;
};

// One vector of results, of which the first `n` lanes are stored.
template <int lanes>
ETCH_INLINE void finish_vector(const Floats<lanes>& sums, const Floats<lanes>& c,
                               const FloatEnd& end, float* y, int32_t n) {
  const Floats<lanes> added = sum(sums, c);
  const Floats<lanes> result = limited(added, end);
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

template <bool some, int lanes, int count>
ETCH_INLINE void finish_line(const Columns<lanes, count>& sums, const Floats<lanes>& c,
                             const FloatEnd& end, float* y, const Span& at) {
  finish_vector(sums.first, c, end, y, some ? at.n : lanes);
  if constexpr (count > 1) finish_line<some>(sums.rest, c, end, y + at.apart, at);
}

template <bool some, int lanes, int count, int rows>
ETCH_INLINE void finish_lines(const Tile<lanes, count, rows>& tile, const FloatEnd& end,
                              const float* c, float* y, ptrdiff_t y_channel, const Span& at) {
  finish_line<some>(tile.first, all_lanes<lanes>(*c), end, y, at);
  if constexpr (rows > 1)
    finish_lines<some>(tile.rest, end, c + end.c_column, y + y_channel, y_channel, at);
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

// One run of steps.
template <class Steps, bool some, int lanes, int count, int rows>
ETCH_INLINE void add_run(Tile<lanes, count, rows>& tile, const float* x, ptrdiff_t x_step,
                         const float* w, ptrdiff_t w_step, int32_t n, const Span& at) {
  for (int32_t i = 0; i < n; ++i, x += x_step, w += w_step) {
    Columns<lanes, count> columns;
    load_line<some>(columns, x, at);
    add_scaled<Steps>(tile, w, 1, columns);
  }
}

// `rows` channels times `count` vectors of positions.
template <class Steps, bool some, int lanes, int count, int rows>
static inline void plane_tile(const FloatConvShape& s, const FloatLines& lines, const FloatEnd& end,
                              const PlaneRow& row, const Window& window, const Span& at) {
  Tile<lanes, count, rows> tile;
  clear(tile);
  const TapRange& d = window.axis[0];
  const TapRange& h = window.axis[1];
  const ConvAxis& a = s.axis[2];
  const LineRuns runs = row.runs;
  const int32_t steps = a.kernel * s.in;
  const ptrdiff_t width = row.width;
  for (int32_t i = 0; i < d.count; ++i) {
    for (int32_t j = 0; j < h.count; ++j) {
      const float* x =
          row.x + at.out + (d.x + i * d.x_step) * lines.plane + (h.x + j * h.x_step) * lines.line;
      const int32_t first = (d.first + i * d.step) * s.axis[1].kernel + h.first + j * h.step;
      const float* w = row.w + static_cast<ptrdiff_t>(first) * steps * width;
      int32_t remainder = 0;
      for (int32_t left = steps; left > 0; left -= runs.length, w += runs.length * width) {
        const int32_t n = left < runs.length ? left : runs.length;
        add_run<Steps, some>(tile, x, runs.step, w, width, n, at);
        x += runs.next;
        remainder += runs.remainder;
        if (remainder >= a.stride) {
          remainder -= a.stride;
          x += runs.back;
        }
      }
    }
  }
  end_sums<Steps>(tile);
  finish_lines<some>(tile, end, row.c, row.y + at.out, s.y_channel, at);
}

// All channels of a panel.
template <class Steps, bool some, int lanes, int count, int rows>
ETCH_INLINE void plane_panel(const FloatConvShape& s, const FloatLines& lines, const FloatEnd& end,
                             PlaneRow row, const Window& window, const Span& at, int32_t left) {
  for (; left >= rows; left -= rows) {
    plane_tile<Steps, some, lanes, count, rows>(s, lines, end, row, window, at);
    row.w += rows;
    row.c += rows * end.c_column;
    row.y += rows * s.y_channel;
  }
  constexpr int kNext = rows > 4 ? rows - 2 : rows - 1;
  if constexpr (rows > 1)
    plane_panel<Steps, some, lanes, count, kNext>(s, lines, end, row, window, at, left);
}

// Channels of a tile of `count` vectors at most: their sums fill the registers of AVX-512, 12 of
// the 16 that AVX2 has, or half of those that others have.
static constexpr int plane_rows(int count) {
  if (kFloatLanes < 16) return kFloatLanes < 8 ? 4 : 6;
  return count > 2 ? 6 : 8;
}

static inline ptrdiff_t depth_of(const FloatConvShape& s) {
  return static_cast<ptrdiff_t>(s.axis[0].kernel) * s.axis[1].kernel * s.axis[2].kernel * s.in;
}

// All channels of a group.
template <class Steps, bool some, int lanes, int count>
static inline void plane_columns(const FloatConvShape& s, const FloatLines& lines,
                                 const FloatEnd& end, PlaneRow row, const Window& window,
                                 const Span& at) {
  const ptrdiff_t depth = depth_of(s);
  for (int32_t first = 0; first < s.out; first += s.panel) {
    row.width = s.out - first < s.panel ? s.out - first : s.panel;
    plane_panel<Steps, some, lanes, count, plane_rows(count)>(s, lines, end, row, window, at,
                                                              row.width);
    row.w += row.width * depth;
    row.c += row.width * end.c_column;
    row.y += row.width * s.y_channel;
  }
}

// One line of outputs. What does not fill vectors is computed with some positions twice or, if the
// line is shorter, in a part of one.
template <class Steps, int lanes>
static inline void plane_line(const FloatConvShape& s, const FloatLines& lines, const FloatEnd& end,
                              const PlaneRow& row, const Window& window) {
  const int32_t n = s.axis[2].out;
  if constexpr (lanes > 1) {
    if (n <= lanes / 2 || (lanes == 4 && n < 4))
      return plane_line<Steps, narrower(lanes)>(s, lines, end, row, window);
    if (n < lanes)
      return plane_columns<Steps, true, lanes, 1>(s, lines, end, row, window, {0, 0, n});
  }
  int32_t out = 0;
  if constexpr (lanes == kFloatLanes && lanes > 1) {
    constexpr int kMost = lanes == 16 ? 4 : 2;
    for (; n - out >= kMost * lanes; out += kMost * lanes)
      plane_columns<Steps, false, lanes, kMost>(s, lines, end, row, window, {out, lanes, lanes});
    if (n - out > lanes) {
      const int32_t all = n - out < 2 * lanes && n >= 2 * lanes ? 2 * lanes : n - out;
      const int32_t apart = all < 2 * lanes ? all - lanes : lanes;
      out = all == n - out ? out : n - all;
      plane_columns<Steps, false, lanes, 2>(s, lines, end, row, window, {out, apart, lanes});
      out += lanes + apart;
    }
  }
  for (; n - out >= lanes; out += lanes)
    plane_columns<Steps, false, lanes, 1>(s, lines, end, row, window, {out, 0, lanes});
  if (out < n)
    plane_columns<Steps, false, lanes, 1>(s, lines, end, row, window, {n - lanes, 0, lanes});
}

// Conv; x and y with neighbouring positions on the last axis, `w` packed per group in panels of
// s.panel channels; `lines` for floats_of_blocks().
template <class Steps = Separate>
static inline void float_planes(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                const float* w, const float* c, float* y, float* lines) {
  const FloatConvShape some = block_of_lines(s);
  const ConvAxis& rows = some.axis[1];
  const FloatLines how = lines_of(some);
  const LineRuns runs = runs_of(s, how);
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      const float* const from = x + n * s.x_image + g * s.in * s.x_channel;
      const ptrdiff_t channel = static_cast<ptrdiff_t>(g) * s.out;
      float* const to = y + n * s.y_image + channel * s.y_channel;
      for (int32_t first = 0; first < s.axis[1].out; first += rows.out) {
        const BlockOfLines block = block_from(s, first, rows.out, rows.in);
        const float* const at = from + block.x * rows.x_step;
        if (how.copied) copy_lines(block.shape, how, at, lines);
        for_each_row(block.shape, [&](ptrdiff_t y_row, const Window& window) {
          const PlaneRow row{how.copied ? lines : at,    w + channel * depth_of(s),        0,
                             c + channel * end.c_column, to + first * rows.y_step + y_row, runs};
          plane_line<Steps, kFloatLanes>(s, how, end, row, window);
        });
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
