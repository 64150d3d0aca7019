// Transposed float convolutions of tensors whose channels are planes, for those with few output
// channels, as decoders and super-resolution end with. Output positions with the same remainder by
// the stride (a phase) have the same taps, and neighbours among them read neighbours of x: vectors
// run along the lines of x, and a tile's rows are phases and output channels. The sums are those of
// etch_float_products.h, in the same order; of padding and weights holds what etch_float_planes.h
// says. Lines of phases are put together in memory of the step.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_planes.h"

namespace etch {
namespace rt {

// Phases of the last axis that one line of x serves: outputs r, r + stride, ... for r from `first`
// to before `last`. Their taps are tap + r - first, one stride apart; tap t of position i reads x
// at i + x - t * apart.
struct Phases {
  int32_t first, last, tap, taps, x;
};

// From one tap of a phase to the next in x.
ETCH_INLINE int32_t tap_distance(const ConvAxis& a) { return a.stride == 1 ? a.dilation : 1; }

static inline int32_t taps_of_phase(const ConvAxis& a, int32_t tap) {
  return tap < a.kernel ? (a.kernel - 1 - tap) / a.stride + 1 : 0;
}

// The phases from `first` on, which is less than the stride.
static inline Phases phases_from(const ConvAxis& a, int32_t first) {
  const int32_t tap = (first + a.pad) % a.stride, taps = taps_of_phase(a, tap);
  int32_t last = first + 1;
  while (last < a.stride && (last + a.pad) % a.stride > tap &&
         taps_of_phase(a, (last + a.pad) % a.stride) == taps)
    ++last;
  return {first, last, tap, taps, (first + a.pad) / a.stride};
}

// Positions of a phase; some have one less.
static inline int32_t positions_of_phase(const ConvAxis& a) { return (a.out - 1) / a.stride + 1; }

// The lines of x as a convolution that is not transposed sees them: its padding and its kernel
// reach over all that phases read.
static inline FloatConvShape forward_lines(const FloatConvShape& s) {
  const ConvAxis& from = s.axis[2];
  int32_t least = 0, most = 0;
  for (int32_t r = 0; r < from.stride;) {
    const Phases p = phases_from(from, r);
    const int32_t lowest = p.taps > 0 ? p.x - (p.taps - 1) * tap_distance(from) : p.x;
    least = r == 0 || lowest < least ? lowest : least;
    most = r == 0 || p.x > most ? p.x : most;
    r = p.last;
  }
  FloatConvShape forward = s;
  forward.transposed = false;
  ConvAxis& a = forward.axis[2];
  a.kernel = most - least + 1;
  a.out = positions_of_phase(from);
  a.stride = a.dilation = 1;
  a.pad = -least;
  return forward;
}

// Floats of memory: lines of x, what is added to the rows of a group, and lines of phases.
static inline ptrdiff_t floats_of_phases(const FloatConvShape& s) {
  const ConvAxis& a = s.axis[2];
  const ptrdiff_t rows = static_cast<ptrdiff_t>(a.stride) * s.out;
  const ptrdiff_t lines = a.stride > 1 ? rows * positions_of_phase(a) : 0;
  return floats_of_lines(forward_lines(s)) + rows + lines;
}

// One line of outputs of all channels of a group: `row` has x at its lines, which begin with `pad`
// positions of padding, the weights of the first phase, and where results go.
template <class Steps>
static inline void lines_of_phases(const FloatConvShape& s, const FloatLines& lines, int32_t pad,
                                   const FloatEnd& end, PlaneRow row, const Window& window) {
  FloatConvShape part = s;
  ConvAxis& a = part.axis[2];
  a.stride = 1;
  a.dilation = -tap_distance(s.axis[2]);
  a.out = positions_of_phase(s.axis[2]);
  const float* const x = row.x;
  for (int32_t r = 0; r < s.axis[2].stride;) {
    const Phases p = phases_from(s.axis[2], r);
    a.kernel = p.taps;
    part.out = (p.last - p.first) * s.out;
    row.x = x + pad + p.x;
    row.runs = runs_of(part, lines);
    plane_line<Steps, kFloatLanes>(part, lines, end, row, window);
    row.w += depth_of(part) * part.out;
    row.y += part.out * part.y_channel;
    r = p.last;
  }
}

// y[i * stride + r] = phases[r * apart + i]
static inline void join_phases(const ConvAxis& a, const float* phases, ptrdiff_t apart, float* y) {
  constexpr ptrdiff_t kSize = sizeof(float);
  const int32_t whole = a.out / a.stride;
  if (whole > 0)
    transpose_words(reinterpret_cast<const uint8_t*>(phases), kSize * apart,
                    reinterpret_cast<uint8_t*>(y), kSize * a.stride, a.stride, whole);
  for (int32_t r = 0; r < a.out % a.stride; ++r)
    y[whole * a.stride + r] = phases[r * apart + whole];
}

// ConvTranspose; x and y with neighbouring positions on the last axis, whose dilation or stride is
// 1. `w` has, per group and per phases_from(), panels of s.panel rows, [kernel positions of the
// other axes][taps][channels of x][rows]; rows are [phase][output channel]. `memory` is for
// floats_of_phases().
template <class Steps = Separate>
static inline void float_transposed_planes(const FloatConvShape& s, const FloatEnd& end,
                                           const float* x, const float* w, const float* c, float* y,
                                           float* memory) {
  const FloatConvShape forward = forward_lines(s);
  const FloatLines how = lines_of(forward);
  const int32_t stride = s.axis[2].stride, rows = stride * s.out;
  float* const added = memory + floats_of_lines(forward);
  float* const phases = added + rows;
  FloatConvShape to = s;  // the lines that are computed
  if (stride > 1) to.y_channel = positions_of_phase(s.axis[2]);
  const FloatEnd each = {1.0f, 1.0f, 0, 1, end.relu, end.most};
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      const float* const from = x + n * s.x_image + g * s.in * s.x_channel;
      const ptrdiff_t channel = static_cast<ptrdiff_t>(g) * s.out;
      if (how.copied) copy_lines(forward, how, from, memory);
      for (int32_t i = 0; i < rows; ++i) added[i] = c[(channel + i % s.out) * end.c_column];
      const float* const start = how.copied ? memory : from;
      float* const image = y + n * s.y_image + channel * s.y_channel;
      for_each_row(s, [&](ptrdiff_t y_row, const Window& window) {
        float* const line = image + y_row;
        const PlaneRow row{start, w + channel * depth_of(s),  0,
                           added, stride > 1 ? phases : line, {}};
        lines_of_phases<Steps>(to, how, forward.axis[2].pad, each, row, window);
        if (stride == 1) return;
        for (int32_t m = 0; m < s.out; ++m)
          join_phases(s.axis[2], phases + m * to.y_channel, s.out * to.y_channel,
                      line + m * s.y_channel);
      });
    }
  }
}

}  // namespace rt
}  // namespace etch
