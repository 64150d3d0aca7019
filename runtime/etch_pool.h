// Pooling of a row of pixels for Arm cores, in portable C++: what the functions in assembly of
// generated code compute (compiler/kernels/pool/assembly.h), for compilers and CPUs that lack the
// instructions. Same results. C++17, freestanding, no heap, no state. Arithmetic:
// docs/spec/qlinear.md section 6.6.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

namespace etch {
namespace rt {

// Pixels of the output, channels last, whose windows see the same taps: count[0] x count[1] x
// count[2] of them, `step` bytes apart.
struct PoolRow {
  int pixels;
  ptrdiff_t x_step, y_step;  // bytes from pixel to pixel
  int channels;
  int count[3];
  ptrdiff_t step[3];
};

// real = x_scale * (x - x_zero_point); y = rne(sum / divisor / y_scale + y_zero) + y_stored.
struct PoolMean {
  float x_scale;
  int x_zero_point;
  float divisor, y_scale, y_zero;
  int y_stored;
};

// Calls tap(byte of x) for each tap in the order of the window.
template <class Tap>
static inline void for_each_pool_tap(const uint8_t* x, const PoolRow& row, Tap tap) {
  for (int d = 0; d < row.count[0]; ++d) {
    for (int h = 0; h < row.count[1]; ++h) {
      for (int w = 0; w < row.count[2]; ++w)
        tap(x[d * row.step[0] + h * row.step[1] + w * row.step[2]]);
    }
  }
}

static inline void pool_maximum(const uint8_t* x, uint8_t* y, const PoolRow& row) {
  for (int i = 0; i < row.pixels; ++i) {
    for (int c = 0; c < row.channels; ++c) {
      uint8_t best = 0;
      for_each_pool_tap(x + i * row.x_step + c, row,
                        [&best](uint8_t value) { best = value > best ? value : best; });
      y[i * row.y_step + c] = best;
    }
  }
}

static inline void pool_mean(const uint8_t* x, uint8_t* y, const PoolRow& row,
                             const PoolMean& mean) {
  for (int i = 0; i < row.pixels; ++i) {
    for (int c = 0; c < row.channels; ++c) {
      float sum = 0;
      for_each_pool_tap(x + i * row.x_step + c, row, [&sum, &mean](uint8_t value) {
        sum += opaque(static_cast<float>(value - mean.x_zero_point) * mean.x_scale);
      });
      const float scaled = opaque(sum / mean.divisor) / mean.y_scale;
      y[i * row.y_step + c] = static_cast<uint8_t>(
          clamp_round_offset(opaque(scaled) + mean.y_zero, mean.y_stored, 0, 255));
    }
  }
}

}  // namespace rt
}  // namespace etch
