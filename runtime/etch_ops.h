// The part of the tiny runtime that is called for whole rows: filling of halos, byte tables and
// what is chosen between them, and QLinearSoftmax. C++17, freestanding, no heap, no state.
// Arithmetic: docs/spec/qlinear.md.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_float.h"

namespace etch {
namespace rt {

// y[0 .. n-1] = value.
static inline void fill(uint8_t* y, int value, int n) { memset(y, value, static_cast<size_t>(n)); }

// y[i] = table[x[i]] for 256 entries; x and y may be the same.
static inline void lookup(const uint8_t* x, uint8_t* y, const uint8_t* table, int n) {
  for (int i = 0; i < n; ++i) y[i] = table[x[i]];
}

// z[i] = condition[i * condition_step] ? a_table[a[i * a_step]] : b_table[b[i * b_step]]; a step of
// 0 repeats one element.
static inline void choose(const uint8_t* condition, ptrdiff_t condition_step, const uint8_t* a,
                          ptrdiff_t a_step, const uint8_t* a_table, const uint8_t* b,
                          ptrdiff_t b_step, const uint8_t* b_table, uint8_t* z, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const bool first = condition[i * condition_step] != 0;
    z[i] = first ? a_table[a[i * a_step]] : b_table[b[i * b_step]];
  }
}

// One result of QLinearSoftmax as stored: rounded `share` (>= 0, infinite or NaN where a product
// overflows) plus zero point. Beyond int32 ONNX Runtime's conversion gives INT32_MIN, its sum
// wraps, and for uint8 it saturates above only.
static inline uint8_t softmax_byte(float share, int32_t y_zero_point, int stored) {
  const int32_t rounded = share < 2147483648.0F ? rne(share) : INT32_MIN;
  const int32_t q =
      static_cast<int32_t>(static_cast<uint32_t>(rounded) + static_cast<uint32_t>(y_zero_point));
  if (stored == 0) return static_cast<uint8_t>(q > 255 ? 255 : q);
  return static_cast<uint8_t>((q < -128 ? -128 : q > 127 ? 127 : q) + stored);
}

// QLinearSoftmax over `rows` rows of `n` stored bytes. `table`[i] = exp((i - 255 + shift) *
// x_scale); each row is moved so that its maximum meets entry 255. `y_inverse` = floor(1 /
// y_scale). The result saturates to the logical type and is kept with `stored` added
// (128 when an int8 is stored as uint8, else 0).
static inline void qlinear_softmax(const uint8_t* x, uint8_t* y, const float* table, int rows,
                                   int n, float y_inverse, int y_zero_point, int stored) {
  for (int r = 0; r < rows; ++r, x += n, y += n) {
    int top = 0;
    for (int i = 0; i < n; ++i) top = x[i] > top ? x[i] : top;
    const float* const moved = table + (255 - top);
    float sum = 0.0F;
    for (int i = 0; i < n; ++i) sum += moved[x[i]];
    for (int i = 0; i < n; ++i) {
      const float share = opaque(moved[x[i]] * y_inverse) / sum;
      y[i] = softmax_byte(share, y_zero_point, stored);
    }
  }
}

}  // namespace rt
}  // namespace etch
