// One row times packed weights (etch_packed_weights.h), widened in registers: each weight is used
// once, so floats in memory would be written and read for nothing. For vectors of 8 and 16 floats.
// The same bits as packed_product(): products and sums of a column are the same, in the same order.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_lanes.h"
#include "etch_float_lanes.h"
#include "etch_float_tiles.h"

namespace etch {
namespace rt {

template <int lanes>
ETCH_INLINE Floats<lanes> load_zeros(const uint8_t* p, int32_t step) {
  return step == 0 ? all_lanes<lanes>(static_cast<float>(*p)) : to_floats(load_bytes<lanes>(p));
}
template <int lanes>
ETCH_INLINE Floats<lanes> load_zeros(const float* p, int32_t step) {
  return load_or_repeat<lanes>(p, step);
}
template <int lanes, int count, class Zero>
ETCH_INLINE void load_zeros(Columns<lanes, count>& x, const Zero* p, int32_t step) {
  x.first = load_zeros<lanes>(p, step);
  if constexpr (count > 1) load_zeros(x.rest, p + lanes * step, step);
}

// Value number `i` of one byte of each column as a float.
template <int bits, int i, int lanes>
ETCH_INLINE Floats<lanes> widened_value(const Ints<lanes>& bytes, const Floats<lanes>& zero,
                                        const Floats<lanes>& scale) {
  constexpr int32_t kMask = (1 << bits) - 1;
  Ints<lanes> each{bytes.v >> (i * bits)};
  if constexpr ((i + 1) * bits < 8) each.v &= kMask;
  return product(difference(to_floats(each), zero), scale);
}

// sum += a[i] * value number i of `bytes`, and so on to the byte's last one, or to the n-th.
// Recursive, so that it is unrolled at every level of optimization.
template <int bits, int i, class Steps, int lanes>
ETCH_INLINE void add_values(Floats<lanes>& sum, const float* a, int32_t n, const Ints<lanes>& bytes,
                            const Floats<lanes>& zero, const Floats<lanes>& scale) {
  if (i == n) return;
  sum = Steps::add_one(sum, a + i, widened_value<bits, i>(bytes, zero, scale));
  if constexpr (i + 1 < 8 / bits) add_values<bits, i + 1, Steps>(sum, a, n, bytes, zero, scale);
}

template <int bits, class Steps, int lanes, int count>
ETCH_INLINE void add_byte(Columns<lanes, count>& sums, const float* a, int32_t n, const uint8_t* w,
                          const Columns<lanes, count>& zeros, const Columns<lanes, count>& scales) {
  add_values<bits, 0, Steps>(sums.first, a, n, load_bytes<lanes>(w), zeros.first, scales.first);
  if constexpr (count > 1)
    add_byte<bits, Steps>(sums.rest, a, n, w + lanes, zeros.rest, scales.rest);
}

// Where the weights of one panel begin, and its columns.
template <class Zero>
struct PackedPanel {
  const uint8_t* w;
  const float* scales;
  const Zero* zeros;
  int32_t first, width;
};

// `count` vectors of columns of a panel, from `column` on.
template <int bits, class Steps, int lanes, int count, class Zero>
static inline void packed_line_columns(int32_t depth, int32_t block, int32_t zero_step,
                                       const float* a, const PackedPanel<Zero>& panel,
                                       int32_t column, const float* bias, int32_t bias_step,
                                       float* y) {
  constexpr int32_t kPerByte = 8 / bits;
  Columns<lanes, count> sums, scale, zero;
  clear(sums);
  const uint8_t* w = panel.w + column;
  const float* scales = panel.scales + column;
  const Zero* zeros = panel.zeros + column * zero_step;
  for (int32_t left = depth; left > 0; left -= block) {
    load_columns(scale, scales, 1);
    load_zeros(zero, zeros, zero_step);
    int32_t n = left < block ? left : block;
    for (; n >= kPerByte; n -= kPerByte, a += kPerByte, w += panel.width)
      add_byte<bits, Steps>(sums, a, kPerByte, w, zero, scale);
    if (n > 0) {
      add_byte<bits, Steps>(sums, a, n, w, zero, scale);
      a += n;
      w += panel.width;
    }
    scales += panel.width;
    zeros += panel.width * zero_step;
  }
  end_sums<Steps>(sums);
  load_columns(scale, bias, bias_step);
  finish_plain(sums, scale, y, [](const Floats<lanes>& x) { return x; });
}

}  // namespace rt
}  // namespace etch
