// Linear and cubic interpolation between the elements of a grid (Resize), in float as ONNX Runtime
// sums the corners, or in integers with positions in steps of 1/1024. Positions and weights come
// from tables: for each loop, and each of its output positions, the low neighbour and the high one.
// Everything counts elements. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_convert.h"

namespace etch {
namespace rt {

// Loops, outermost first; the first is only interpolated when there are 8 corners. Around each
// output position a row of `inner` elements is treated alike.
struct Grid {
  int32_t corners;  // 4 or 8
  int32_t n[3];
  ptrdiff_t y_step[3];
  int32_t inner;
  ptrdiff_t x_inner;
  ptrdiff_t y_inner;
};

// What the corners around one output position are: where, and how much each counts.
template <class Weight>
struct Corners {
  ptrdiff_t from[8];
  Weight weight[8];
};

// The innermost axis changes fastest, and products begin with it.
template <class Weight>
static inline void set_corners(Corners<Weight>& c, const Grid& g, const int32_t* const* at,
                               const Weight* const* weight) {
  for (int i = 0; i < g.corners; ++i) {
    const int low = i & 1, middle = (i >> 1) & 1, high = i >> 2;
    c.from[i] = ptrdiff_t{at[2][low]} + at[1][middle] + at[0][high];
    c.weight[i] = static_cast<Weight>(weight[2][low] * weight[1][middle]);
    if (g.corners == 8) c.weight[i] = static_cast<Weight>(c.weight[i] * weight[0][high]);
  }
}

static inline float resized_value(const float* x, const Corners<float>& c, const Grid& g, Stored) {
  float sum = opaque(c.weight[0] * x[c.from[0]]);
  for (int i = 1; i < g.corners; ++i) sum += opaque(c.weight[i] * x[c.from[i]]);
  return sum;
}

static inline uint8_t resized_value(const uint8_t* x, const Corners<float>& c, const Grid& g,
                                    Stored as) {
  float sum = opaque(c.weight[0] * static_cast<float>(value_of(x[c.from[0]], as)));
  for (int i = 1; i < g.corners; ++i)
    sum += opaque(c.weight[i] * static_cast<float>(value_of(x[c.from[i]], as)));
  return keep<uint8_t>(static_cast<int32_t>(sum), as);
}

static inline uint8_t resized_value(const uint8_t* x, const Corners<int32_t>& c, const Grid& g,
                                    Stored as) {
  int32_t sum = 0;
  for (int i = 0; i < g.corners; ++i) sum += c.weight[i] * value_of(x[c.from[i]], as);
  return keep<uint8_t>(sum / (1 << 20), as);
}

// A low neighbour below 0 stands for a position outside of x, where y is `outside`.
template <class T, class Weight>
static inline void resize_linear(const T* x, T* y, const int32_t* positions, const Weight* weights,
                                 Grid g, T outside, Stored as) {
  const ptrdiff_t second = 2 * ptrdiff_t{g.n[0]};
  const ptrdiff_t third = second + 2 * ptrdiff_t{g.n[1]};
  for (int i = 0; i < g.n[0]; ++i) {
    for (int j = 0; j < g.n[1]; ++j) {
      for (int k = 0; k < g.n[2]; ++k) {
        const int32_t* const at[3] = {positions + 2 * i, positions + second + 2 * j,
                                      positions + third + 2 * k};
        const Weight* const weight[3] = {weights + 2 * i, weights + second + 2 * j,
                                         weights + third + 2 * k};
        T* const to = y + i * g.y_step[0] + j * g.y_step[1] + k * g.y_step[2];
        if (at[0][0] < 0 || at[1][0] < 0 || at[2][0] < 0) {
          for (int c = 0; c < g.inner; ++c) to[c * g.y_inner] = outside;
          continue;
        }
        Corners<Weight> corners{};
        set_corners(corners, g, at, weight);
        for (int c = 0; c < g.inner; ++c)
          to[c * g.y_inner] = resized_value(x + c * g.x_inner, corners, g, as);
      }
    }
  }
}

// Between four neighbours along each of two loops: rows of them first, as ONNX Runtime sums them.
// `divides`: what a row counts is a part of `total`, not of 1.
template <bool divides>
static inline float cubic_value(const float* x, const int32_t* rows, const float* row_weights,
                                float total, const int32_t* columns, const float* column_weights) {
  float sum = 0.0f;
  for (int j = 0; j < 4; ++j) {
    const float* const row = x + rows[j];
    float along = 0.0f;
    for (int i = 0; i < 4; ++i) along += opaque(column_weights[i] * row[columns[i]]);
    const float part = opaque(along * row_weights[j]);
    sum += divides ? opaque(part / total) : part;
  }
  return sum;
}

// The inner two loops of the grid; tables as above with four neighbours, and after the weights the
// total of each row position.
template <bool divides>
static inline void resize_cubic(const float* x, float* y, const int32_t* positions,
                                const float* weights, Grid g, float outside) {
  const ptrdiff_t inner = 4 * ptrdiff_t{g.n[1]};
  const float* const totals = weights + inner + 4 * ptrdiff_t{g.n[2]};
  for (int j = 0; j < g.n[1]; ++j) {
    for (int k = 0; k < g.n[2]; ++k) {
      const int32_t* const rows = positions + 4 * j;
      const int32_t* const columns = positions + inner + 4 * k;
      float* const to = y + j * g.y_step[1] + k * g.y_step[2];
      const bool is_outside = rows[0] < 0 || columns[0] < 0;
      for (int c = 0; c < g.inner; ++c) {
        to[c * g.y_inner] = is_outside
                                ? outside
                                : cubic_value<divides>(x + c * g.x_inner, rows, weights + 4 * j,
                                                       totals[j], columns, weights + inner + 4 * k);
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
