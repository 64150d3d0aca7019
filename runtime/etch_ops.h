// The part of the tiny runtime that is called for whole rows: filling of halos, what is
// chosen between byte tables, and QLinearSoftmax. C++17, freestanding, no heap, no state.
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

// rne(e * y_inverse / sum) of the exact quotient, or 600 where that is more; 0 <= e <= sum, sum >=
// 1, y_inverse finite. e / sum <= 1, so no step overflows. The quotient in float is off by less
// than 600 * 2^-22: it decides unless a tie is near, where the exact products are compared in
// double.
static inline int32_t softmax_quotient(float e, float sum, float y_inverse) {
  const float quotient = opaque(e / sum) * y_inverse;
  if (quotient >= 600.0F) return 600;
  const int32_t below = static_cast<int32_t>(quotient);
  const float rest = quotient - static_cast<float>(below);
  if (rest < 0.499F) return below;
  if (rest > 0.501F) return below + 1;
  const double twice = 2.0 * static_cast<double>(e) * static_cast<double>(y_inverse);
  const double tie = static_cast<double>(2 * below + 1) * static_cast<double>(sum);
  const bool up = below % 2 == 0 ? twice > tie : twice >= tie;
  return up ? below + 1 : below;
}

// One result of QLinearSoftmax as stored: `quotient` plus zero point, saturated to the logical
// type.
static inline uint8_t softmax_byte(int32_t quotient, int32_t y_zero_point, int stored) {
  const int32_t most = 255 - stored;
  const int32_t q = quotient + y_zero_point;
  return static_cast<uint8_t>((q < most ? q : most) + stored);
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
      y[i] = softmax_byte(softmax_quotient(moved[x[i]], sum, y_inverse), y_zero_point, stored);
    }
  }
}

}  // namespace rt
}  // namespace etch
