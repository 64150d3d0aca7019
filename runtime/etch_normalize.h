// Rows that are normalized as a whole: softmax along any axis, its logarithm, normalization to mean
// 0 and variance 1, and by neighbouring channels. Sums are taken in one order and no product is
// fused with a sum, so that every target gives the same bits. C++17, freestanding, no heap, no
// state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_functions.h"

namespace etch {
namespace rt {

// Rows of `n` elements, `step` apart in x and y; `rows` of them, `next` apart.
struct RowsShape {
  int32_t rows, n;
  ptrdiff_t x_next, x_step, y_next, y_step;
};

// Softmax as softmax_f32() has it, element by element along any axis. x and y must not overlap.
static inline void softmax_rows(const RowsShape& s, const float* x, float* y) {
  for (int32_t row = 0; row < s.rows; ++row, x += s.x_next, y += s.y_next) {
    float most = -0x1.fffffep+127f;
    for (int32_t i = 0; i < s.n; ++i) most = x[i * s.x_step] > most ? x[i * s.x_step] : most;
    float lanes[16] = {};
    for (int32_t i = 0; i < s.n; ++i) {
      const float e = exp_f32(x[i * s.x_step] - most);
      y[i * s.y_step] = e;
      lanes[i & 15] += e;
    }
    const float scale = 1.0f / sum_of_lanes(lanes);
    for (int32_t i = 0; i < s.n; ++i) y[i * s.y_step] = opaque(y[i * s.y_step] * scale);
  }
}

// Its logarithm: (x - max) - ln(sum).
static inline void log_softmax_rows(const RowsShape& s, const float* x, float* y) {
  for (int32_t row = 0; row < s.rows; ++row, x += s.x_next, y += s.y_next) {
    float most = -0x1.fffffep+127f;
    for (int32_t i = 0; i < s.n; ++i) most = x[i * s.x_step] > most ? x[i * s.x_step] : most;
    float lanes[16] = {};
    for (int32_t i = 0; i < s.n; ++i) lanes[i & 15] += exp_f32(x[i * s.x_step] - most);
    const float logarithm = log_f32(sum_of_lanes(lanes));
    for (int32_t i = 0; i < s.n; ++i) y[i * s.y_step] = (x[i * s.x_step] - most) - logarithm;
  }
}

// Where the factor and the addend of an element are: row * next + element * step.
struct RowAffine {
  ptrdiff_t factor_next, factor_step, addend_next, addend_step;
};

// Each row to mean 0 and variance 1, then y = fl(fl(normalized * factor) + addend).
static inline void normalize_rows(const RowsShape& s, const RowAffine& a, float epsilon,
                                  const float* x, const float* factor, const float* addend,
                                  float* y) {
  const float count = static_cast<float>(s.n);
  for (int32_t row = 0; row < s.rows; ++row) {
    float sum = 0.0f;
    for (int32_t i = 0; i < s.n; ++i) sum += x[i * s.x_step];
    const float mean = sum / count;
    float squares = 0.0f;
    for (int32_t i = 0; i < s.n; ++i) {
      const float d = x[i * s.x_step] - mean;
      squares += opaque(d * d);
    }
    const float inverse = 1.0f / sqrt_f32(squares / count + epsilon);
    for (int32_t i = 0; i < s.n; ++i) {
      const float normalized = opaque((x[i * s.x_step] - mean) * inverse);
      y[i * s.y_step] = opaque(normalized * factor[i * a.factor_step]) + addend[i * a.addend_step];
    }
    x += s.x_next;
    y += s.y_next;
    factor += a.factor_next;
    addend += a.addend_next;
  }
}

// Local response normalization: the window of a channel, and the formula's constants.
struct LrnShape {
  int32_t before, after;
  float factor, beta, bias;
};

// value^beta; the usual beta without a logarithm.
static inline float lrn_power(float value, float beta) {
  if (float_bits(beta) != 0x3f400000u) return pow_f32(value, beta);  // 0.75
  const float root = sqrt_f32(value);
  return opaque(root * sqrt_f32(root));
}

// Rows of channels; x and y must not overlap.
static inline void lrn_rows(const RowsShape& s, const LrnShape& lrn, const float* x, float* y) {
  for (int32_t row = 0; row < s.rows; ++row, x += s.x_next, y += s.y_next) {
    for (int32_t c = 0; c < s.n; ++c) {
      const int32_t first = c < lrn.before ? 0 : c - lrn.before;
      const int32_t last = s.n - 1 - c < lrn.after ? s.n - 1 : c + lrn.after;
      float sum = 0.0f;
      for (int32_t k = first; k <= last; ++k) sum += opaque(x[k * s.x_step] * x[k * s.x_step]);
      const float value = lrn.bias + opaque(lrn.factor * sum);
      y[c * s.y_step] = x[c * s.x_step] / lrn_power(value, lrn.beta);
    }
  }
}

}  // namespace rt
}  // namespace etch
