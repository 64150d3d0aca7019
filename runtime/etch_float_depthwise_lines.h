// Depthwise float convolutions of tensors whose channels are neighbours, with 3, 5 or 7 kernel
// columns and a stride of 1 or 2: a tile is up to 8 neighbouring outputs of a vector of channels,
// and each vector of x is read once for all of a kernel's columns. The sums are those of
// etch_float_products.h, in the same order; positions beside a line are read as zeros, which
// changes no sum as long as weights are finite. (A sum that starts at 0 is never -0.) C++17,
// freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_products.h"

namespace etch {
namespace rt {

// The weights of a kernel's line, one vector per column.
template <int lanes, int kernel>
ETCH_INLINE void load_taps(Columns<lanes, kernel>& taps, const float* w, ptrdiff_t next) {
  taps.first = load<lanes>(w);
  if constexpr (kernel > 1) load_taps(taps.rest, w + next, next);
}

template <int at, int lanes, int count>
ETCH_INLINE const Floats<lanes>& vector_of(const Columns<lanes, count>& x) {
  if constexpr (at == 0) {
    return x.first;
  } else {
    return vector_of<at - 1>(x.rest);
  }
}

// x at position `at` after the first that the tile reads, times the weights that it meets.
template <class Steps, int at, int stride, int lanes, int pixels, int kernel>
ETCH_INLINE void add_position(Columns<lanes, pixels>& sums, const Floats<lanes>& x,
                              const Columns<lanes, kernel>& taps) {
  if constexpr (at < kernel) sums.first = Steps::add(sums.first, x, vector_of<at>(taps));
  if constexpr (pixels > 1 && at >= stride)
    add_position<Steps, at - stride, stride>(sums.rest, x, taps);
}

// All positions of a line of x, of which load(position) is a vector.
template <class Steps, int at, int stride, int lanes, int pixels, int kernel, class Load>
ETCH_INLINE void add_positions(Columns<lanes, pixels>& sums, const Columns<lanes, kernel>& taps,
                               Load load) {
  add_position<Steps, at, stride>(sums, load(at), taps);
  if constexpr (at + 1 < (pixels - 1) * stride + kernel)
    add_positions<Steps, at + 1, stride>(sums, taps, load);
}

template <int lanes, int pixels>
ETCH_INLINE void finish_pixels(const Columns<lanes, pixels>& sums, const Floats<lanes>& c,
                               const FloatEnd& end, float* y, ptrdiff_t y_pixel, int32_t left) {
  if (left <= 0) return;
  store(y, limited(sum(sums.first, c), end));
  if constexpr (pixels > 1) finish_pixels(sums.rest, c, end, y + y_pixel, y_pixel, left - 1);
}

// One vector of channels of an output line: x at its first channel, w at its first weight, y at the
// line's first output; `h` has the kernel's lines.
struct ChannelLine {
  const float* x;
  const float* w;
  const float* c;
  float* y;
  TapRange h;
};

// `pixels` outputs from `out` on; those after the end of the line are not stored.
template <class Steps, int kernel, int stride, int lanes, int pixels>
static inline void depthwise_line_tile(const FloatConvShape& s, const FloatEnd& end,
                                       const ChannelLine& line, int32_t out) {
  const ConvAxis &h = s.axis[1], &a = s.axis[2];
  const int32_t first = out * stride - a.pad, left = a.out - out;
  const bool inside = first >= 0 && first + (pixels - 1) * stride + kernel <= a.in;
  const ptrdiff_t next = s.group, x_step = a.x_step;
  Columns<lanes, pixels> sums;
  clear(sums);
  for (int32_t i = 0; i < line.h.count; ++i) {
    const float* const x = line.x + (line.h.x + i * line.h.x_step) * h.x_step;
    Columns<lanes, kernel> taps;
    load_taps(taps, line.w + (line.h.first + i * line.h.step) * kernel * next, next);
    if (inside) {
      const float* const from = x + first * x_step;
      add_positions<Steps, 0, stride>(sums, taps,
                                      [=](int32_t at) { return load<lanes>(from + at * x_step); });
    } else {
      add_positions<Steps, 0, stride>(sums, taps, [=](int32_t at) {
        const int32_t w = first + at;
        return w >= 0 && w < a.in ? load<lanes>(x + w * x_step) : all_lanes<lanes>(0.0f);
      });
    }
  }
  end_sums<Steps>(sums);
  const Floats<lanes> c = end.c_column == 0 ? all_lanes<lanes>(*line.c) : load<lanes>(line.c);
  finish_pixels(sums, c, end, line.y + out * a.y_step, a.y_step, left);
}

// Tiles of 8, 6 or 4 outputs, such that few are computed in vain.
template <class Steps, int kernel, int stride, int lanes>
static inline void depthwise_channel_line(const FloatConvShape& s, const FloatEnd& end,
                                          const ChannelLine& line) {
  const int32_t n = s.axis[2].out;
  for (int32_t out = 0; out < n;) {
    const int32_t left = n - out;
    if (left <= 4) {
      depthwise_line_tile<Steps, kernel, stride, lanes, 4>(s, end, line, out);
      return;
    }
    if (left <= 6 || (left > 8 && left <= 12)) {
      depthwise_line_tile<Steps, kernel, stride, lanes, 6>(s, end, line, out);
      out += 6;
    } else {
      depthwise_line_tile<Steps, kernel, stride, lanes, 8>(s, end, line, out);
      out += 8;
    }
  }
}

// Depthwise Conv of images (axis 0 has one position); w[position * group + channel], columns of c 0
// or 1 apart. `most` lanes are filled by the channels; the last vector of them takes some twice.
template <int kernel, int stride, int most, class Steps = Separate>
static inline void float_depthwise_lines(const FloatConvShape& s, const FloatEnd& end,
                                         const float* x, const float* w, const float* c, float* y) {
  constexpr int32_t kLanes = kFloatLanes < most ? kFloatLanes : most;
  const ConvAxis& h = s.axis[1];
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t out = 0; out < h.out; ++out) {
      const TapRange taps = taps_inside(h, false, out);
      for (int32_t channel = 0; channel < s.group; channel += kLanes) {
        const int32_t at = channel < s.group - kLanes ? channel : s.group - kLanes;
        const ChannelLine line{x + n * s.x_image + at, w + at, c + at * end.c_column,
                               y + n * s.y_image + out * h.y_step + at, taps};
        depthwise_channel_line<Steps, kernel, stride, kLanes>(s, end, line);
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
