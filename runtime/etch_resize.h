// Linear and cubic interpolation between the elements of a grid (Resize), in float as ONNX Runtime
// sums the corners, or in integers with positions in steps of 1/1024. Positions and weights come
// from tables: for each loop, and each of its output positions, the low neighbour and the high one.
// Everything counts elements. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_lanes.h"

namespace etch {
namespace rt {

// Loops, outermost first; the first is only interpolated when there are 8 corners. Around each
// output position a dense row of `inner` elements is treated alike.
struct Grid {
  int32_t corners;  // 4 or 8
  int32_t n[3];
  ptrdiff_t y_step[3];
  int32_t inner;
};

// The corners around one output position: where they are, and how much each counts. Nested rather
// than arrays, so that all of it stays in registers.
template <class Weight, int count>
struct Corners {
  ptrdiff_t from;
  Weight weight;
  Corners<Weight, count - 1> rest;
};
template <class Weight>
struct Corners<Weight, 0> {};

// The two neighbours of one position along a loop, from the tables.
template <class Weight>
struct Between {
  ptrdiff_t at[2];
  Weight weight[2];
};

template <class Weight>
ETCH_INLINE Between<Weight> between(const int32_t* positions, const Weight* weights, ptrdiff_t i) {
  return {{positions[2 * i], positions[2 * i + 1]}, {weights[2 * i], weights[2 * i + 1]}};
}

// Corners i on of `count`: the innermost axis changes fastest, and products begin with it.
template <int count, int i = 0, class Weight>
ETCH_INLINE Corners<Weight, count - i> corners_of(const Between<Weight>& outer,
                                                  const Between<Weight>& middle,
                                                  const Between<Weight>& inner) {
  if constexpr (i == count) {
    return {};
  } else {
    constexpr int kInner = i & 1, kMiddle = (i >> 1) & 1, kOuter = i >> 2;
    const Weight plane = static_cast<Weight>(inner.weight[kInner] * middle.weight[kMiddle]);
    const Weight all = count == 8 ? static_cast<Weight>(plane * outer.weight[kOuter]) : plane;
    return {inner.at[kInner] + middle.at[kMiddle] + outer.at[kOuter], all,
            corners_of<count, i + 1>(outer, middle, inner)};
  }
}

template <int lanes>
ETCH_INLINE Floats<lanes> load_reals(const float* x, Stored) {
  return load<lanes>(x);
}
template <int lanes>
ETCH_INLINE Floats<lanes> load_reals(const uint8_t* x, Stored as) {
  return to_floats(load_values<lanes>(x, as));
}

template <int lanes>
ETCH_INLINE void keep_reals(float* y, const Floats<lanes>& value, Stored) {
  store(y, value);
}
template <int lanes>
ETCH_INLINE void keep_reals(uint8_t* y, const Floats<lanes>& value, Stored as) {
  keep_bytes(y, to_ints(value), as);
}

// `total` and the corners of the elements from x on, in order.
template <int lanes, int count, class T>
ETCH_INLINE Floats<lanes> with_corners(const Floats<lanes>& total, const T* x,
                                       const Corners<float, count>& c, Stored as) {
  if constexpr (count == 0) {
    return total;
  } else {
    const Floats<lanes> each = load_reals<lanes>(x + c.from, as);
    return with_corners(sum(total, product(all_lanes<lanes>(c.weight), each)), x, c.rest, as);
  }
}

template <int lanes, int count>
ETCH_INLINE Ints<lanes> with_corners(const Ints<lanes>& total, const uint8_t* x,
                                     const Corners<int32_t, count>& c, Stored as) {
  if constexpr (count == 0) {
    return total;
  } else {
    const Ints<lanes> each = load_values<lanes>(x + c.from, as);
    return with_corners(Ints<lanes>{total.v + each.v * c.weight}, x, c.rest, as);
  }
}

// The elements from x on between `lanes` neighbouring corners each, to y on.
template <int lanes, int count, class T>
ETCH_INLINE void interpolate(const T* x, T* y, const Corners<float, count>& c, Stored as) {
  const Floats<lanes> first =
      product(all_lanes<lanes>(c.weight), load_reals<lanes>(x + c.from, as));
  keep_reals(y, with_corners(first, x, c.rest, as), as);
}

template <int lanes, int count>
ETCH_INLINE void interpolate(const uint8_t* x, uint8_t* y, const Corners<int32_t, count>& c,
                             Stored as) {
  const Ints<lanes> first{load_values<lanes>(x + c.from, as).v * c.weight};
  keep_bytes(y, Ints<lanes>{with_corners(first, x, c.rest, as).v / (1 << 20)}, as);
}

// A row of n elements around one position, in vectors as far as they go.
template <int lanes, int count, class T, class Weight>
ETCH_INLINE void interpolate_row(const T* x, T* y, ptrdiff_t n, const Corners<Weight, count>& c,
                                 Stored as) {
  for (; n >= lanes; n -= lanes, x += lanes, y += lanes) interpolate<lanes>(x, y, c, as);
  if constexpr (lanes > 1) interpolate_row<narrower(lanes)>(x, y, n, c, as);
}

#if defined(__GNUC__)
ETCH_INLINE Floats<4> four(float a, float b, float c, float d) {
  return {Floats<4>::Vector{a, b, c, d}};
}

// x at four of the inner loop's positions, low ones or high ones.
ETCH_INLINE Floats<4> load_four(const float* x, const int32_t* positions) {
  return four(x[positions[0]], x[positions[2]], x[positions[4]], x[positions[6]]);
}

// `total` and corners i on of `count` of four neighbouring outputs, in order.
template <int count, int i>
ETCH_INLINE Floats<4> with_four(const Floats<4>& total, const float* x, const Between<float>& outer,
                                const Between<float>& middle, const int32_t* positions,
                                const Floats<4>* inner_weight) {
  if constexpr (i == count) {
    return total;
  } else {
    constexpr int kInner = i & 1, kMiddle = (i >> 1) & 1, kOuter = i >> 2;
    Floats<4> weight = product(inner_weight[kInner], all_lanes<4>(middle.weight[kMiddle]));
    if constexpr (count == 8) weight = product(weight, all_lanes<4>(outer.weight[kOuter]));
    const float* const from = x + (middle.at[kMiddle] + outer.at[kOuter]);
    const Floats<4> term = product(weight, load_four(from, positions + kInner));
    return with_four<count, i + 1>(i == 0 ? term : sum(total, term), x, outer, middle, positions,
                                   inner_weight);
  }
}

// Four outputs of the innermost loop that are neighbours, from y on, if none is outside of x.
template <int count>
ETCH_INLINE bool resize_four(const float* x, float* y, const Between<float>& outer,
                             const Between<float>& middle, const int32_t* positions,
                             const float* weights) {
  if ((positions[0] | positions[2] | positions[4] | positions[6]) < 0) return false;
  const Floats<4> each[2] = {four(weights[0], weights[2], weights[4], weights[6]),
                             four(weights[1], weights[3], weights[5], weights[7])};
  store(y, with_four<count, 0>(each[0], x, outer, middle, positions, each));
  return true;
}
template <int count, class T, class Weight>
ETCH_INLINE bool resize_four(const T*, T*, const Between<Weight>&, const Between<Weight>&,
                             const int32_t*, const Weight*) {
  return false;
}
#endif

// The innermost loop. A low neighbour below 0 stands for a position outside of x, where y is
// `outside`.
template <int count, class T, class Weight>
ETCH_INLINE void resize_line(const T* x, T* y, const Between<Weight>& outer,
                             const Between<Weight>& middle, const int32_t* positions,
                             const Weight* weights, const Grid& g, T outside, Stored as) {
  const bool is_outside = outer.at[0] < 0 || middle.at[0] < 0;
  const bool neighbours = g.inner == 1 && g.y_step[2] == 1;
  for (ptrdiff_t k = 0; k < g.n[2]; ++k, y += g.y_step[2]) {
    const Between<Weight> inner = between(positions, weights, k);
    if constexpr (kFloatLanes > 1) {
      const bool four = neighbours && !is_outside && k + 4 <= g.n[2];
      if (four && resize_four<count>(x, y, outer, middle, positions + 2 * k, weights + 2 * k)) {
        k += 3;
        y += 3;
        continue;
      }
    }
    if (is_outside || inner.at[0] < 0) {
      for (int c = 0; c < g.inner; ++c) y[c] = outside;
    } else if (g.inner == 1) {
      interpolate<1>(x, y, corners_of<count>(outer, middle, inner), as);
    } else {
      interpolate_row<kFloatLanes>(x, y, g.inner, corners_of<count>(outer, middle, inner), as);
    }
  }
}

template <int count, class T, class Weight>
static inline void resize_between(const T* x, T* y, const int32_t* positions, const Weight* weights,
                                  const Grid& g, T outside, Stored as) {
  const ptrdiff_t second = 2 * ptrdiff_t{g.n[0]};
  const ptrdiff_t third = second + 2 * ptrdiff_t{g.n[1]};
  for (ptrdiff_t i = 0; i < g.n[0]; ++i) {
    const Between<Weight> outer = between(positions, weights, i);
    for (ptrdiff_t j = 0; j < g.n[1]; ++j) {
      const Between<Weight> middle = between(positions + second, weights + second, j);
      resize_line<count>(x, y + i * g.y_step[0] + j * g.y_step[1], outer, middle, positions + third,
                         weights + third, g, outside, as);
    }
  }
}

template <class T, class Weight>
static inline void resize_linear(const T* x, T* y, const int32_t* positions, const Weight* weights,
                                 Grid g, T outside, Stored as) {
  if (g.corners == 8) return resize_between<8>(x, y, positions, weights, g, outside, as);
  resize_between<4>(x, y, positions, weights, g, outside, as);
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
        to[c] = is_outside ? outside
                           : cubic_value<divides>(x + c, rows, weights + 4 * j, totals[j], columns,
                                                  weights + inner + 4 * k);
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
