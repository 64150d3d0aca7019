// Resize with antialias along one axis: each output is a weighed sum of neighbouring inputs, as
// many as tables say, the first of them first, and each step rounds. Vectors run over what is
// beside the axis: elements that are neighbours in memory, or else 16 rows, which are turned in
// memory of the step. Of bytes the weights are parts of 2^22, and the sum is rounded once.
// Everything counts elements. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_lanes.h"
#include "etch_transpose.h"

namespace etch {
namespace rt {

struct Filtered {
  int32_t out;               // positions of y
  int32_t rows, inner;       // rows, and neighbouring elements at each position, treated alike
  ptrdiff_t x_row, y_row;    // from row to row
  ptrdiff_t x_step, y_step;  // from position to position
  int32_t turned;            // positions of x that fit memory: all inputs of an output, or 0
};

constexpr int kTurnedRows = 16, kTurnedOutputs = 16;

// Elements of memory, of the type of x.
static inline ptrdiff_t memory_of_turned(const Filtered& f) {
  return ptrdiff_t{f.turned + kTurnedOutputs} * f.inner * kTurnedRows;
}

// ---- sums of `lanes` neighbours ----

template <int lanes, class Weight>
struct FilterLanes;
template <int lanes>
struct FilterLanes<lanes, float> {
  typedef Floats<lanes> Sums;
};
template <int lanes>
struct FilterLanes<lanes, int32_t> {
  typedef Ints<lanes> Sums;
};

template <int lanes>
ETCH_INLINE Floats<lanes> all_weights(float weight) {
  return all_lanes<lanes>(weight);
}
template <int lanes>
ETCH_INLINE Ints<lanes> all_weights(int32_t weight) {
  return {weight + decltype(Ints<lanes>::v){}};
}

template <int lanes>
ETCH_INLINE Floats<lanes> add_weighed(const Floats<lanes>& total, const float* x,
                                      const Floats<lanes>& weight, Stored) {
  return sum(total, product(load<lanes>(x), weight));
}
template <int lanes>
ETCH_INLINE Ints<lanes> add_weighed(const Ints<lanes>& total, const uint8_t* x,
                                    const Ints<lanes>& weight, Stored as) {
  return {total.v + load_values<lanes>(x, as).v * weight.v};
}

// What sums begin with: of bytes half of what they are divided by.
ETCH_INLINE float first_of(float) { return 0.0f; }
ETCH_INLINE int32_t first_of(int32_t) { return 1 << 21; }

template <int lanes>
ETCH_INLINE void keep_filtered(float* y, const Floats<lanes>& total, Stored) {
  store(y, total);
}
template <int lanes>
ETCH_INLINE void keep_filtered(uint8_t* y, const Ints<lanes>& total, Stored as) {
  Ints<lanes> value{total.v >> 22};
  value.v = value.v < 0 ? 0 + decltype(value.v){} : value.v;
  value.v = value.v > 255 ? 255 + decltype(value.v){} : value.v;
  keep_bytes(y, value, as);
}

// From x on, `step` between the inputs of one output.
template <int lanes, class T, class Weight>
ETCH_INLINE void filter_vector(const T* x, ptrdiff_t step, const Weight* weights, int32_t taps,
                               T* y, Stored as) {
  auto total = all_weights<lanes>(first_of(Weight{}));
  for (int32_t t = 0; t < taps; ++t, x += step)
    total = add_weighed(total, x, all_weights<lanes>(weights[t]), as);
  keep_filtered(y, total, as);
}

// Four vectors that are neighbours: their sums do not wait for each other.
template <int lanes, class T, class Weight>
ETCH_INLINE void filter_vectors(const T* x, ptrdiff_t step, const Weight* weights, int32_t taps,
                                T* y, Stored as) {
  auto a = all_weights<lanes>(first_of(Weight{}));
  auto b = a, c = a, d = a;
  for (int32_t t = 0; t < taps; ++t, x += step) {
    const auto weight = all_weights<lanes>(weights[t]);
    a = add_weighed(a, x, weight, as);
    b = add_weighed(b, x + lanes, weight, as);
    c = add_weighed(c, x + 2 * lanes, weight, as);
    d = add_weighed(d, x + 3 * lanes, weight, as);
  }
  keep_filtered(y, a, as);
  keep_filtered(y + lanes, b, as);
  keep_filtered(y + 2 * lanes, c, as);
  keep_filtered(y + 3 * lanes, d, as);
}

// n neighbours, in vectors as far as they go.
template <int lanes, class T, class Weight>
ETCH_INLINE void filter_run(const T* x, ptrdiff_t step, const Weight* weights, int32_t taps, T* y,
                            ptrdiff_t n, Stored as) {
  for (; n >= 4 * lanes; n -= 4 * lanes, x += 4 * lanes, y += 4 * lanes)
    filter_vectors<lanes>(x, step, weights, taps, y, as);
  for (; n >= lanes; n -= lanes, x += lanes, y += lanes)
    filter_vector<lanes>(x, step, weights, taps, y, as);
  if constexpr (lanes > 1) filter_run<narrower(lanes)>(x, step, weights, taps, y, n, as);
}

// ---- rows that are turned ----

ETCH_INLINE void turn(const float* x, ptrdiff_t x_row, float* y, ptrdiff_t y_row, int rows,
                      int columns) {
  constexpr ptrdiff_t kSize = sizeof(float);
  transpose_words(reinterpret_cast<const uint8_t*>(x), kSize * x_row, reinterpret_cast<uint8_t*>(y),
                  kSize * y_row, rows, columns);
}
ETCH_INLINE void turn(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row, int rows,
                      int columns) {
  transpose_bytes(x, x_row, y, y_row, rows, columns, 0);
}

// Outputs whose inputs fit memory together, from one on; they are inputs [from, to).
struct TurnedPart {
  int32_t outputs, from, to;
};

static inline TurnedPart turned_part(const int32_t* taps, int32_t left, int32_t turned) {
  TurnedPart part{1, taps[0], taps[0] + taps[1]};
  for (; part.outputs < left && part.outputs < kTurnedOutputs; ++part.outputs) {
    const int32_t first = taps[2 * part.outputs], end = first + taps[2 * part.outputs + 1];
    const int32_t from = first < part.from ? first : part.from, to = end > part.to ? end : part.to;
    if (to - from > turned) break;
    part.from = from;
    part.to = to;
  }
  return part;
}

// `rows` rows, at most 16.
template <class T, class Weight>
static inline void filter_turned(const T* x, T* y, T* memory, const int32_t* taps,
                                 const Weight* weights, const Filtered& f, int32_t rows,
                                 Stored as) {
  T* const results = memory + ptrdiff_t{f.turned} * f.inner * kTurnedRows;
  const ptrdiff_t run = ptrdiff_t{f.inner} * rows;
  for (int32_t i = 0; i < f.out;) {
    const TurnedPart part = turned_part(taps, f.out - i, f.turned);
    turn(x + ptrdiff_t{part.from} * f.inner, f.x_row, memory, rows, rows,
         (part.to - part.from) * f.inner);
    for (int32_t k = 0; k < part.outputs; ++k, taps += 2) {
      filter_run<kFloatLanes>(memory + (taps[0] - part.from) * run, run, weights, taps[1],
                              results + k * run, run, as);
      weights += taps[1];
    }
    turn(results, rows, y + ptrdiff_t{i} * f.inner, f.y_row, part.outputs * f.inner, rows);
    i += part.outputs;
  }
}

// `taps` has for each output its first input and how many there are, whose weights follow each
// other in `weights`.
template <class T, class Weight>
static inline void filter_axis(const T* x, T* y, const int32_t* taps, const Weight* weights,
                               Filtered f, Stored as) {
  for (int32_t row = 0; row < f.rows; ++row) {
    const Weight* weight = weights;
    for (int32_t i = 0; i < f.out; ++i) {
      const int32_t first = taps[2 * i], count = taps[2 * i + 1];
      filter_run<kFloatLanes>(x + row * f.x_row + first * f.x_step, f.x_step, weight, count,
                              y + row * f.y_row + i * f.y_step, f.inner, as);
      weight += count;
    }
  }
}

// The same where positions are `inner` apart in x and y, through `memory` for memory_of_turned().
template <class T, class Weight>
static inline void filter_turned_axis(const T* x, T* memory, T* y, const int32_t* taps,
                                      const Weight* weights, Filtered f, Stored as) {
  for (int32_t row = 0; row < f.rows; row += kTurnedRows) {
    const int32_t rows = f.rows - row < kTurnedRows ? f.rows - row : kTurnedRows;
    filter_turned(x + row * f.x_row, y + row * f.y_row, memory, taps, weights, f, rows, as);
  }
}

}  // namespace rt
}  // namespace etch
