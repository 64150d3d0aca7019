// Products of floats and weights that stay integers of 2, 4 or 8 bits in memory, with a scale and a
// zero point for every column of each block of the depth. A part of a block is widened to floats
// for the columns of one panel, and multiplied with all rows before the next one is. C++17,
// freestanding, no heap, no state.
//
//   y = ((0 + p0) + p1) + p2 ... + bias,  p = fl(a * w),  w = fl(fl(q - zero) * scale)
//
// as float_conv() of etch_float_products.h computes it from widened weights.
//
// Packed weights: panels of columns; in a panel blocks; in a block one byte per column side by
// side, with 8 / bits values of the depth each, the first in the low bits. Scales and zero points:
// per panel a row of its columns for each block.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_lanes.h"
#include "etch_float_lanes.h"
#include "etch_float_products.h"
#include "etch_packed_line.h"

namespace etch {
namespace rt {

struct PackedProduct {
  int32_t rows, depth, cols;
  int32_t block;      // values of the depth with one scale
  int32_t part;       // as many of them are widened at once; a multiple of 8 unless it is `block`
  int32_t panel;      // columns
  int32_t zero_step;  // 1; 0 where one zero point serves all
  int32_t bias_step;  // the same of the bias
};

static constexpr int32_t blocks_of(int32_t depth, int32_t block) { return (depth - 1) / block + 1; }

// Of one column; a block begins with a byte.
static constexpr ptrdiff_t bytes_of_column(const PackedProduct& s, int32_t per_byte) {
  const int32_t whole = (s.depth - 1) / s.block;
  const int32_t last = s.depth - whole * s.block;
  return ptrdiff_t{whole} * ((s.block - 1) / per_byte + 1) + (last - 1) / per_byte + 1;
}

// ---- from packed integers to floats ----

// Value number `i` and those after it of one byte of each column; values after the first n are left
// out. Recursive, so that it is unrolled at every level of optimization.
template <int bits, int i, int lanes>
ETCH_INLINE void widen_bytes(const Ints<lanes>& bytes, const Floats<lanes>& zero,
                             const Floats<lanes>& scale, int32_t n, int32_t width, float* to) {
  if (i == n) return;
  store(to, widened_value<bits, i>(bytes, zero, scale));
  if constexpr (i + 1 < 8 / bits)
    widen_bytes<bits, i + 1>(bytes, zero, scale, n, width, to + width);
}

// `n` values of the depth of `width` columns, one row of floats for each.
template <int bits, int lanes, class Zero>
static inline void widen_part(const uint8_t* w, const float* scales, const Zero* zeros,
                              int32_t zero_step, int32_t n, int32_t width, float* to) {
  constexpr int32_t kPerByte = 8 / bits;
  const auto columns = [&](ptrdiff_t j, auto each) {
    constexpr int kLanes = decltype(each)::value;
    const Floats<kLanes> scale = load<kLanes>(scales + j);
    const Floats<kLanes> zero = load_zeros<kLanes>(zeros + j * zero_step, zero_step);
    const uint8_t* from = w + j;
    float* row = to + j;
    for (int32_t left = n; left > 0; left -= kPerByte) {
      widen_bytes<bits, 0>(load_bytes<kLanes>(from), zero, scale, left, width, row);
      from += width;
      row += kPerByte * static_cast<ptrdiff_t>(width);
    }
  };
  for (ptrdiff_t j = for_vectors<lanes>(0, width, columns); j < width; ++j) columns(j, Width<1>{});
}

// ---- products of one part with all rows ----

// What one part is multiplied with. `a` begins at the part in row 0.
struct PackedPart {
  const float* a;
  const float* w;  // widened
  const float* bias;
  float* y;
  ptrdiff_t a_row, y_row;
  int32_t n, width;
  int32_t bias_step;
  bool first, last;  // of the depth
};

template <int lanes, int count>
ETCH_INLINE void load_tile(Columns<lanes, count>& tile, const float* y, ptrdiff_t) {
  load_columns(tile, y, 1);
}
template <int lanes, int count, int pixels>
ETCH_INLINE void load_tile(Tile<lanes, count, pixels>& tile, const float* y, ptrdiff_t y_row) {
  load_tile(tile.first, y, y_row);
  if constexpr (pixels > 1) load_tile(tile.rest, y + y_row, y_row);
}

template <int lanes, int count, int pixels>
ETCH_INLINE void store_tile(const Tile<lanes, count, pixels>& tile, float* y, ptrdiff_t y_row) {
  store_sums(tile.first, y);
  if constexpr (pixels > 1) store_tile(tile.rest, y + y_row, y_row);
}

template <class Steps, int lanes, int count, int pixels>
static inline void packed_tile(const PackedPart& p, int32_t row, int32_t column) {
  const float* const a = p.a + row * p.a_row;
  float* const y = p.y + row * p.y_row + column;
  Tile<lanes, count, pixels> tile;
  if (p.first) {
    clear(tile);
  } else {
    load_tile(tile, y, p.y_row);
  }
  const float* w = p.w + column;
  int32_t k = 0;
#if defined(ETCH_NEON_TILES)
  if constexpr (kHasNeonTile<Steps, lanes, count, pixels>) {
    k = p.n & ~3;
    if (k != 0) w = add_fours(tile, a, p.a_row, w, p.width, k / 4);
  }
#elif defined(ETCH_ARM_LANES)
  if constexpr (lanes == 4) {
    for (; k + 4 <= p.n; k += 4, w += 4 * static_cast<ptrdiff_t>(p.width))
      add_four<Steps>(tile, a + k, p.a_row, w, p.width);
  }
#elif defined(ETCH_CHECKED_TILES)
  if constexpr (!is_fused(Steps()) && lanes == kCheckedLanes && count * pixels == 4) {
    for (; k + 2 <= p.n; k += 2, w += 2 * static_cast<ptrdiff_t>(p.width))
      add_two(tile, a + k, p.a_row, w, p.width);
  }
#endif
  for (; k < p.n; ++k, w += p.width) {
    add_scaled<Steps>(tile, a + k, p.a_row, w);
  }
  if (!p.last) {
    store_tile(tile, y, p.y_row);
    return;
  }
  end_sums<Steps>(tile);
  Columns<lanes, count> bias;
  load_columns(bias, p.bias + column * p.bias_step, p.bias_step);
  finish_plain(tile, bias, y, p.y_row, [](const Floats<lanes>& x) { return x; });
}

#if defined(ETCH_FPU_TILES)
// packed_tile() of four columns and four rows at a time, as many as there are; returns how many
// rows that is. Between two parts y holds the sums.
static inline int32_t packed_fours(const PackedPart& p, int32_t rows, int32_t column) {
  constexpr size_t kFour = 4 * sizeof(float);
  FpuOperands operands{p.a, p.a_row, 1, p.w + column, p.width};
  float* y = p.y + column;
  int32_t row = 0;
  for (; row + 4 <= rows; row += 4, operands.x += 4 * p.a_row, y += 4 * p.y_row) {
    float sums[16];
    if (!p.first) {
      for (int i = 0; i < 4; ++i) ETCH_MEMCPY(sums + 4 * i, y + i * p.y_row, kFour);
    }
    add_to_fours(sums, p.first ? kNoSums : sums, operands, p.n);
    if (p.last) {
      finish_fours(sums, 4, 4, p.bias + column * p.bias_step, p.bias_step, y, p.y_row);
    } else {
      for (int i = 0; i < 4; ++i) ETCH_MEMCPY(y + i * p.y_row, sums + 4 * i, kFour);
    }
  }
  return row;
}
#endif

// A function of its own: among others that are inlined its sums do not stay in registers.
template <class Steps, int lanes, int count, int pixels>
ETCH_OWN_REGISTERS static void own_packed_tile(const PackedPart& p, int32_t row, int32_t column) {
  packed_tile<Steps, lanes, count, pixels>(p, row, column);
}

// All rows on AVX, in tiles of about the same size; see etch_float_matrix.h.
template <class Steps, int lanes, int count>
static inline void even_packed_rows(const PackedPart& p, int32_t rows, int32_t column) {
  for_even_tiles<tile_pixels(count), 1>(rows, [&](int32_t row, auto width) {
    own_packed_tile<Steps, lanes, count, decltype(width)::value>(p, row, column);
  });
}

template <class Steps, int lanes, int count, int pixels>
static inline void packed_rows(const PackedPart& p, int32_t rows, int32_t column, int32_t row = 0) {
  if constexpr (kFloatLanes == 8 && lanes == 8 && count > 1) {
    even_packed_rows<Steps, lanes, count>(p, rows, column);
  } else {
#if defined(ETCH_FPU_TILES)
    if constexpr (kHasFpuTile<Steps, lanes, count, pixels>) row = packed_fours(p, rows, column);
#endif
    for (; row + pixels <= rows; row += pixels)
      packed_tile<Steps, lanes, count, pixels>(p, row, column);
    if constexpr (pixels > 1)
      packed_rows<Steps, lanes, count, (pixels > 4 ? 4 : pixels / 2)>(p, rows, column, row);
  }
}

#if defined(ETCH_CHECKED_FLOATS)
// In vectors.
template <class Steps>
static inline int32_t checked_packed_columns(const PackedPart& p, int32_t rows) {
  constexpr int kLanes = kCheckedLanes;
  int32_t column = 0;
  for (; rows == 1 && p.width - column >= 4 * kLanes; column += 4 * kLanes)
    packed_tile<Steps, kLanes, 4, 1>(p, 0, column);
  for (; p.width - column >= 2 * kLanes; column += 2 * kLanes)
    packed_rows<Steps, kLanes, 2, tile_pixels(2, kLanes)>(p, rows, column);
  for (; p.width - column >= kLanes; column += kLanes)
    packed_rows<Steps, kLanes, 1, 4>(p, rows, column);
  return column;
}
#endif

template <class Steps, int lanes>
static inline void packed_columns(const PackedPart& p, int32_t rows, int32_t column = 0) {
#if defined(ETCH_CHECKED_FLOATS)
  if constexpr (lanes == kCheckedLanes)
    return packed_columns<Steps, 1>(p, rows, checked_packed_columns<Steps>(p, rows));
#endif
  if constexpr (lanes == kFloatLanes && !kHasCheckedFloats) {
    for (; p.width - column >= 4 * lanes; column += 4 * lanes)
      packed_rows<Steps, lanes, 4, tile_pixels(4)>(p, rows, column);
    if (p.width - column >= 2 * lanes) {
      packed_rows<Steps, lanes, 2, tile_pixels(2)>(p, rows, column);
      column += 2 * lanes;
    }
  }
  for (; p.width - column >= lanes; column += lanes)
    packed_rows<Steps, lanes, 1, tile_pixels(1, lanes)>(p, rows, column);
  if constexpr (lanes > 1) packed_columns<Steps, narrower(lanes)>(p, rows, column);
}

// One panel and one row, in vectors of `lanes` and narrower ones.
template <int bits, class Steps, int lanes, class Zero>
static inline void packed_line(const PackedProduct& s, const float* a,
                               const PackedPanel<Zero>& panel, const float* bias, float* y,
                               int32_t column = 0) {
  const auto columns = [&](auto vectors) {
    packed_line_columns<bits, Steps, lanes, decltype(vectors)::value>(
        s.depth, s.block, s.zero_step, a, panel, column, bias + column * s.bias_step, s.bias_step,
        y + column);
  };
  if constexpr (lanes == kFloatLanes) {
    for (; panel.width - column >= 4 * lanes; column += 4 * lanes) columns(Width<4>{});
  }
  for (; panel.width - column >= lanes; column += lanes) columns(Width<1>{});
  if constexpr (lanes > 1) packed_line<bits, Steps, narrower(lanes)>(s, a, panel, bias, y, column);
}

// One panel, whose weights are widened for vectors of `lanes`; returns where the next one begins.
template <int bits, int lanes, class Steps, class Zero>
static inline const uint8_t* packed_panel(const PackedProduct& s, const float* a,
                                          const PackedPanel<Zero>& panel, const float* bias,
                                          float* widened, float* y) {
  constexpr int32_t kPerByte = 8 / bits;
  const int32_t blocks = blocks_of(s.depth, s.block), first = panel.first, width = panel.width;
  const uint8_t* w = panel.w;
  if constexpr (lanes >= 8) {
    if (s.rows == 1) {
      packed_line<bits, Steps, lanes>(s, a, panel, bias + first * s.bias_step, y + first);
      return w + bytes_of_column(s, kPerByte) * width;
    }
  }
  for (int32_t block = 0; block < blocks; ++block) {
    const int32_t start = block * s.block;
    const int32_t end = s.depth - start < s.block ? s.depth : start + s.block;
    const float* const scales = panel.scales + block * width;
    const Zero* const zeros = panel.zeros + block * width * s.zero_step;
    for (int32_t k = start; k < end; k += s.part) {
      const int32_t n = end - k < s.part ? end - k : s.part;
      widen_part<bits, lanes>(w, scales, zeros, s.zero_step, n, width, widened);
      const PackedPart part{a + k,     widened,         bias + first * s.bias_step,
                            y + first, s.depth,         s.cols,
                            n,         width,           s.bias_step,
                            k == 0,    k + n == s.depth};
      packed_columns<Steps, lanes>(part, s.rows);
      w += ((n - 1) / kPerByte + 1) * static_cast<ptrdiff_t>(width);
    }
  }
  return w;
}

// a and y are dense; `widened` holds part * panel floats.
template <int bits, class Zero, class Steps = Separate>
static inline void packed_product(const PackedProduct& s, const float* a, const uint8_t* w,
                                  const float* scales, const Zero* zeros, const float* bias,
                                  float* widened, float* y) {
  const int32_t blocks = blocks_of(s.depth, s.block);
  PackedPanel<Zero> panel{w, scales, zeros, 0, 0};
  for (; panel.first < s.cols; panel.first += s.panel) {
    panel.width = s.cols - panel.first < s.panel ? s.cols - panel.first : s.panel;
    const uint8_t* next = nullptr;
#if defined(ETCH_CHECKED_FLOATS)
    const uint32_t before = begin_check();
    next = packed_panel<bits, kCheckedLanes, Steps>(s, a, panel, bias, widened, y);
    if (!end_check(before))
#endif
      next = packed_panel<bits, kFloatLanes, Steps>(s, a, panel, bias, widened, y);
    panel.w = next;
    panel.scales += blocks * panel.width;
    panel.zeros += blocks * panel.width * s.zero_step;
  }
}

// ---- rows of a packed table ----

// Rows of a matrix [size, blocks * block or less] whose elements are packed as weights are, in
// blocks along the row, of which `bytes` belong to a row; the indices name them.
struct PackedTable {
  int32_t size, inner, block;
  int32_t row_bytes, row_scales;
  int32_t zero_step;
};

template <int bits, class Index>
static inline void gather_packed(const PackedTable& s, const uint8_t* x, const float* scales,
                                 const uint8_t* zeros, const Index* indices, float* y,
                                 int32_t count) {
  constexpr int32_t kPerByte = 8 / bits;
  constexpr int32_t kMask = (1 << bits) - 1;
  for (int32_t i = 0; i < count; ++i, y += s.inner) {
    const int64_t at = indices[i] < 0 ? int64_t{indices[i]} + s.size : int64_t{indices[i]};
    const bool inside = at >= 0 && at < s.size;
    const ptrdiff_t row = inside ? static_cast<ptrdiff_t>(at) : 0;
    const uint8_t* const from = x + row * s.row_bytes;
    const ptrdiff_t scale = row * s.row_scales;
    for (int32_t k = 0; k < s.inner; ++k) {
      const int32_t q = (from[k / kPerByte] >> (k % kPerByte * bits)) & kMask;
      const ptrdiff_t entry = scale + k / s.block;
      const int32_t value = q - zeros[entry * s.zero_step];
      y[k] = inside ? static_cast<float>(value) * scales[entry] : 0.0f;
    }
  }
}

}  // namespace rt
}  // namespace etch
