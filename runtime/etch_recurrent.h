// What one time step of RNN, GRU and LSTM does besides its product: adds what belongs to the gates,
// and makes the new state of them. Functions of floats come between (etch_functions.h); the loop
// over time is in generated code. A gate's row has an element for each of the `hidden` elements of
// the state, and there is a row of gates for each entry of the batch.
//
// Every sum and every product rounds once, in the order written, so that all targets give the same
// bits (docs/spec/recurrent.md). Lengths of sequences only choose, so none can lead outside. C++17,
// freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_float_lanes.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// Rows of the batch and where they are: in the products of the input, in the gates, in y. Biases of
// a gate are two, bias_next apart; bias_step 0 repeats one for all elements.
struct GateRows {
  int32_t rows, hidden;
  ptrdiff_t x_row, gate_row, y_row;
  ptrdiff_t valid_step;  // 0: one byte for all rows
  ptrdiff_t bias_step, bias_next;
  float clip;  // limits what activations get to [-clip, clip]; 0: does not
};

// Calls chunk(i, Width<lanes>{}) for all of n elements.
template <class Chunk>
ETCH_INLINE void for_elements(ptrdiff_t n, Chunk chunk) {
  for (ptrdiff_t i = for_vectors<kFloatLanes>(0, n, chunk); i < n; ++i) chunk(i, Width<1>{});
}

// NaN stays.
template <int lanes>
ETCH_INLINE Floats<lanes> clipped(const Floats<lanes>& x, float clip) {
  const Floats<lanes> low = larger(all_lanes<lanes>(-clip), x);
  return clip > 0.0f ? smaller(all_lanes<lanes>(clip), low) : x;
}

// Copies n elements of every row; an x_step of 0 repeats one. Rows are x_row and y_row apart.
static inline void copy_state(int32_t rows, int32_t n, const float* x, ptrdiff_t x_row,
                              ptrdiff_t x_step, float* y, ptrdiff_t y_row) {
  for (int32_t row = 0; row < rows; ++row, x += x_row, y += y_row)
    for (int32_t i = 0; i < n; ++i) y[i] = x[i * x_step];
}

// valid[t * rows + row] = whether step t of `time` is before the end of the row's sequence.
static inline void sequence_mask(const int32_t* lengths, int32_t rows, int32_t time,
                                 uint8_t* valid) {
  for (int32_t t = 0; t < time; ++t)
    for (int32_t row = 0; row < rows; ++row) *valid++ = t < lengths[row] ? 1 : 0;
}

// Sequences without a step have no state either.
static inline void clear_unused(const int32_t* lengths, int32_t rows, int32_t n, float* state) {
  for (int32_t row = 0; row < rows; ++row, state += n) {
    if (lengths[row] > 0) continue;
    for (int32_t i = 0; i < n; ++i) state[i] = 0.0f;
  }
}

// gates = clip((x + gates) + (bias + bias[bias_next])) for the first n elements of every row.
static inline void add_gates(const GateRows& s, int32_t n, const float* x, const float* bias,
                             float* gates) {
  for (int32_t row = 0; row < s.rows; ++row, x += s.x_row, gates += s.gate_row) {
    for_elements(n, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      const float* const b = bias + i * s.bias_step;
      const Floats<kLanes> both = sum(load_or_repeat<kLanes>(b, s.bias_step),
                                      load_or_repeat<kLanes>(b + s.bias_next, s.bias_step));
      const Floats<kLanes> all = sum(sum(load<kLanes>(x + i), load<kLanes>(gates + i)), both);
      store(gates + i, clipped(all, s.clip));
    });
  }
}

// gate += p * c, of one gate.
static inline void add_peephole(const GateRows& s, const float* p, const float* c, float* gate) {
  for (int32_t row = 0; row < s.rows; ++row, c += s.hidden, gate += s.gate_row) {
    for_elements(s.hidden, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      const Floats<kLanes> seen = product(load<kLanes>(p + i), load<kLanes>(c + i));
      store(gate + i, sum(load<kLanes>(gate + i), seen));
    });
  }
}

// Calls body(gates, h, y) for every row that is valid, and writes zeros to y for the others. Where
// there is no y, it is h.
template <class Row>
ETCH_INLINE void for_valid_rows(const GateRows& s, float* gates, const uint8_t* valid, float* h,
                                float* y, Row body) {
  for (int32_t row = 0; row < s.rows; ++row) {
    if (*valid != 0) {
      body(gates, h, y);
    } else if (y != h) {
      for (int32_t i = 0; i < s.hidden; ++i) y[i] = 0.0f;
    }
    gates += s.gate_row;
    valid += s.valid_step;
    h += s.hidden;
    y += s.y_row;
  }
}

// RNN: the gate is the new state.
static inline void rnn_state(const GateRows& s, float* gates, const uint8_t* valid, float* h,
                             float* y) {
  for_valid_rows(s, gates, valid, h, y, [&](const float* gate, float* state, float* out) {
    for_elements(s.hidden, [=](ptrdiff_t i, auto width) {
      const auto value = load<decltype(width)::value>(gate + i);
      store(state + i, value);
      store(out + i, value);
    });
  });
}

// GRU's gates are z, r and the candidate, in this order. reset = r * h.
static inline void gru_reset(const GateRows& s, const float* gates, const float* h, float* reset) {
  for (int32_t row = 0; row < s.rows; ++row) {
    const float* const r = gates + s.hidden;
    for_elements(s.hidden, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      store(reset + i, product(load<kLanes>(r + i), load<kLanes>(h + i)));
    });
    gates += s.gate_row;
    h += s.hidden;
    reset += s.hidden;
  }
}

// With linear_before_reset: candidate = clip((x + r * (candidate + bias[bias_next])) + bias); x and
// bias are those of the candidate.
static inline void gru_candidate(const GateRows& s, const float* x, const float* bias,
                                 float* gates) {
  for (int32_t row = 0; row < s.rows; ++row, x += s.x_row, gates += s.gate_row) {
    const float* const r = gates + s.hidden;
    float* const candidate = gates + 2 * static_cast<ptrdiff_t>(s.hidden);
    for_elements(s.hidden, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      const float* const b = bias + i * s.bias_step;
      const Floats<kLanes> linear =
          sum(load<kLanes>(candidate + i), load_or_repeat<kLanes>(b + s.bias_next, s.bias_step));
      const Floats<kLanes> all = sum(load<kLanes>(x + i), product(load<kLanes>(r + i), linear));
      store(candidate + i, clipped(sum(all, load_or_repeat<kLanes>(b, s.bias_step)), s.clip));
    });
  }
}

// h = (1 - z) * candidate + z * h
static inline void gru_state(const GateRows& s, float* gates, const uint8_t* valid, float* h,
                             float* y) {
  for_valid_rows(s, gates, valid, h, y, [&](const float* z, float* state, float* out) {
    const float* const candidate = z + 2 * static_cast<ptrdiff_t>(s.hidden);
    for_elements(s.hidden, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      const Floats<kLanes> share = load<kLanes>(z + i);
      const Floats<kLanes> rest = difference(all_lanes<kLanes>(1.0f), share);
      const Floats<kLanes> value =
          sum(product(rest, load<kLanes>(candidate + i)), product(share, load<kLanes>(state + i)));
      store(state + i, value);
      store(out + i, value);
    });
  });
}

// LSTM's gates are i, o, f and the candidate, in this order. c = f * c + i * candidate, with 1 - i
// for f if they are coupled; takes the candidate's place, too.
static inline void lstm_cell(const GateRows& s, int32_t coupled, float* gates, const uint8_t* valid,
                             float* c) {
  for_valid_rows(s, gates, valid, c, c, [&](float* gate, float* cell, float*) {
    const float* const forget = gate + 2 * static_cast<ptrdiff_t>(s.hidden);
    float* const candidate = gate + 3 * static_cast<ptrdiff_t>(s.hidden);
    for_elements(s.hidden, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      const Floats<kLanes> in = load<kLanes>(gate + i);
      const Floats<kLanes> keep =
          coupled != 0 ? difference(all_lanes<kLanes>(1.0f), in) : load<kLanes>(forget + i);
      const Floats<kLanes> value =
          sum(product(keep, load<kLanes>(cell + i)), product(in, load<kLanes>(candidate + i)));
      store(cell + i, value);
      store(candidate + i, value);
    });
  });
}

// h = o * what the last activation made of c, in the candidate's place.
static inline void lstm_state(const GateRows& s, float* gates, const uint8_t* valid, float* h,
                              float* y) {
  for_valid_rows(s, gates, valid, h, y, [&](const float* gate, float* state, float* out) {
    const float* const o = gate + s.hidden;
    const float* const cell = gate + 3 * static_cast<ptrdiff_t>(s.hidden);
    for_elements(s.hidden, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      const Floats<kLanes> value = product(load<kLanes>(o + i), load<kLanes>(cell + i));
      store(state + i, value);
      store(out + i, value);
    });
  });
}

// y = alpha * x + beta
static inline void affine_row(float* x, int32_t n, float alpha, float beta) {
  for_elements(n, [=](ptrdiff_t i, auto width) {
    constexpr int kLanes = decltype(width)::value;
    store(x + i,
          sum(product(all_lanes<kLanes>(alpha), load<kLanes>(x + i)), all_lanes<kLanes>(beta)));
  });
}

// ---- quantized states ----

template <int lanes>
ETCH_INLINE float least_lane(const Floats<lanes>& x) {
  float each[static_cast<size_t>(lanes)];
  store(each, x);
  float least = each[0];
  for (int i = 1; i < lanes; ++i) least = each[i] < least ? each[i] : least;
  return least;
}

// DynamicQuantizeLinear of a whole state. NaN elements take no part in the range and become 0.
static inline void quantize_state(const float* x, int32_t n, uint8_t* y, float* scale,
                                  uint8_t* zero_point) {
  constexpr int kLanes = kFloatLanes;
  Floats<kLanes> lows = all_lanes<kLanes>(0.0f);
  Floats<kLanes> negative_highs = lows;
  const ptrdiff_t whole = n - n % kLanes;
  for (ptrdiff_t i = 0; i < whole; i += kLanes) {
    const Floats<kLanes> v = load<kLanes>(x + i);
    lows = smaller(v, lows);
    negative_highs = smaller(negated(v), negative_highs);
  }
  float low = least_lane(lows);
  float high = 0.0f - least_lane(negative_highs);
  for (ptrdiff_t i = whole; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  const float step = low < high ? (high - low) / 255.0f : 1.0f;
  const int32_t zero = clamp_round_offset(0.0f - low / step, 0, 0, 255);
  *scale = step;
  *zero_point = static_cast<uint8_t>(zero);
  for_elements(n, [=](ptrdiff_t at, auto width) {
    constexpr int kWidth = decltype(width)::value;
    const Floats<kWidth> bias = all_lanes<kWidth>(12582912.0f);  // its last bit weighs 1
    const Floats<kWidth> v = quotient(load<kWidth>(x + at), all_lanes<kWidth>(step));
    const Floats<kWidth> above = larger(v, all_lanes<kWidth>(static_cast<float>(0 - zero)));
    const Floats<kWidth> in = smaller(above, all_lanes<kWidth>(static_cast<float>(255 - zero)));
    const Ints<kWidth> biased = bits_of(sum(in, bias));
    int32_t each[static_cast<size_t>(kWidth)];
    ETCH_MEMCPY(each, &biased, sizeof each);
    for (int k = 0; k < kWidth; ++k) y[at + k] = static_cast<uint8_t>(each[k] - 0x4b400000 + zero);
  });
}

// y = fl(sum) * (x_scale * w_scale), n sums in a row.
static inline void scale_sums(const int32_t* sums, int32_t rows, int32_t n, const float* x_scale,
                              const float* w_scale, ptrdiff_t w_step, float* y) {
  for (int32_t row = 0; row < rows; ++row, sums += n, y += n) {
    for_elements(n, [=](ptrdiff_t i, auto width) {
      constexpr int kLanes = decltype(width)::value;
      const Ints<kLanes> whole = load_ints<kLanes>(sums + i);
      const Floats<kLanes> factor = product(all_lanes<kLanes>(*x_scale),
                                            load_or_repeat<kLanes>(w_scale + i * w_step, w_step));
      store(y + i, product(to_floats(whole), factor));
    });
  }
}

}  // namespace rt
}  // namespace etch
