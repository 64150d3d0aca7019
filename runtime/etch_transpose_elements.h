// Matrices of 2-byte and of 8-byte elements, transposed: 16-bit values, half floats, int64 and
// double. Like etch_transpose.h in registers of SSE2 or 64-bit Arm, or one by one, in tiles that a
// first-level cache holds. C++17, freestanding, the same result everywhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_transpose.h"
#include "etch_transpose_registers.h"

namespace etch {
namespace rt {

#if defined(ETCH_TRANSPOSE_REGISTERS)
// ---- elements of 2 bytes ----

static inline void store_both(uint8_t* y, ptrdiff_t y_row, Register upper, Register lower) {
  store_words(y, low_halves(upper, lower));
  store_words(y + y_row, high_halves(upper, lower));
}

// 8 rows of 8 elements.
static inline void transpose_pair_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                        ptrdiff_t y_row) {
  const Register r0 = load_words(x), r1 = load_words(x + x_row);
  const Register r2 = load_words(x + 2 * x_row), r3 = load_words(x + 3 * x_row);
  const Register r4 = load_words(x + 4 * x_row), r5 = load_words(x + 5 * x_row);
  const Register r6 = load_words(x + 6 * x_row), r7 = load_words(x + 7 * x_row);
  const Register a0 = low_pairs(r0, r1), a1 = high_pairs(r0, r1);
  const Register b0 = low_pairs(r2, r3), b1 = high_pairs(r2, r3);
  const Register c0 = low_pairs(r4, r5), c1 = high_pairs(r4, r5);
  const Register d0 = low_pairs(r6, r7), d1 = high_pairs(r6, r7);
  store_both(y, y_row, low_words(a0, b0), low_words(c0, d0));
  store_both(y + 2 * y_row, y_row, high_words(a0, b0), high_words(c0, d0));
  store_both(y + 4 * y_row, y_row, low_words(a1, b1), low_words(c1, d1));
  store_both(y + 6 * y_row, y_row, high_words(a1, b1), high_words(c1, d1));
}

// 4 rows of 2 to 4 elements; of fewer than 4, rows are read as if they had 4.
static inline void transpose_small_pairs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                         ptrdiff_t y_row, int columns) {
  const Register a = low_pairs(load_half(x), load_half(x + x_row));
  const Register b = low_pairs(load_half(x + 2 * x_row), load_half(x + 3 * x_row));
  store_rows(y, y_row, low_words(a, b));
  const Register last = high_words(a, b);
  if (columns == 4) return store_rows(y + 2 * y_row, y_row, last);
  if (columns == 2) return;
  const Register twice = low_words(last, last);
  store_word(y + 2 * y_row, last);
  store_word(y + 2 * y_row + 4, high_halves(twice, twice));
}

// 2 or 3 rows of 4 elements, as columns of as many side by side; 3 are written as if they were 4.
static inline void transpose_few_pairs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, int rows) {
  const Register r0 = load_half(x), r1 = load_half(x + x_row);
  if (rows == 2) return store_words(y, low_pairs(r0, r1));
  const Register r2 = load_half(x + 2 * x_row);
  const Register a = low_pairs(r0, r1), b = low_pairs(r2, r2);
  store_rows(y, 6, low_words(a, b));  // ascending: each writes over what the one before has put
  store_rows(y + 12, 6, high_words(a, b));
}

// The beginning of a matrix with 2 or 3 rows or columns: how much of its longer side is done. What
// is read or written too far belongs to elements that come after it.
static inline int transpose_long_pairs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                       ptrdiff_t y_row, int rows, int columns) {
  int at = 0;
  if (rows > columns && x_row >= 2 * columns) {
    for (; at + 4 < rows; at += 4)
      transpose_small_pairs(x + at * x_row, x_row, y + 2 * at, y_row, columns);
  } else if (rows < columns && y_row == 2 * rows) {
    for (; at + 4 < columns; at += 4) transpose_few_pairs(x + 2 * at, x_row, y + at * y_row, rows);
  }
  return at;
}

static inline void transpose_tile_of_pairs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                           ptrdiff_t y_row, int rows, int columns) {
  const int few = rows < columns ? rows : columns;
  if (few < 4) return transpose_single<2>(x, x_row, y, y_row, rows, columns);
  const int side = few < 8 ? 4 : 8;
  for_blocks(rows, columns, side, side, x_row > y_row, [=](int i, int j) {
    const uint8_t* const from = x + i * x_row + 2 * j;
    uint8_t* const to = y + j * y_row + 2 * i;
    if (side == 8) return transpose_pair_block(from, x_row, to, y_row);
    transpose_small_pairs(from, x_row, to, y_row, 4);
  });
}

// ---- elements of 8 bytes ----

// 2 rows of 2 elements.
static inline void transpose_long_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                        ptrdiff_t y_row) {
  const Register r0 = load_words(x), r1 = load_words(x + x_row);
  store_words(y, low_halves(r0, r1));
  store_words(y + y_row, high_halves(r0, r1));
}

#if defined(__AVX__)
// 4 rows of 2 elements.
static inline void transpose_tall_longs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                        ptrdiff_t y_row) {
  const __m256 even = load_halves(x, 2 * x_row), odd = load_halves(x + x_row, 2 * x_row);
  store_wide(y, even, odd, false);
  store_wide(y + y_row, even, odd, true);
}
#endif

static inline void transpose_tile_of_longs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                           ptrdiff_t y_row, int rows, int columns) {
  if (rows < 2 || columns < 2) return transpose_single<8>(x, x_row, y, y_row, rows, columns);
#if defined(__AVX__)
  if (rows >= 4) {
    for_blocks(rows, columns, 4, 2, x_row > y_row, [=](int i, int j) {
      transpose_tall_longs(x + i * x_row + 8 * j, x_row, y + j * y_row + 8 * i, y_row);
    });
    return;
  }
#endif
  for_blocks(rows, columns, 2, 2, x_row > y_row, [=](int i, int j) {
    transpose_long_block(x + i * x_row + 8 * j, x_row, y + j * y_row + 8 * i, y_row);
  });
}
#else
static inline void transpose_tile_of_pairs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                           ptrdiff_t y_row, int rows, int columns) {
  transpose_single<2>(x, x_row, y, y_row, rows, columns);
}
static inline void transpose_tile_of_longs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                           ptrdiff_t y_row, int rows, int columns) {
  transpose_single<8>(x, x_row, y, y_row, rows, columns);
}
#endif

// The same as transpose_bytes() with elements of 2 bytes; x_row and y_row are in bytes.
static inline void transpose_pairs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                   int rows, int columns) {
#if defined(ETCH_TRANSPOSE_REGISTERS)
  const int few = rows < columns ? rows : columns;
  if (few == 2 || few == 3) {
    const int done = transpose_long_pairs(x, x_row, y, y_row, rows, columns);
    if (rows > columns) {
      return transpose_single<2>(x + done * x_row, x_row, y + 2 * done, y_row, rows - done,
                                 columns);
    }
    return transpose_single<2>(x + 2 * done, x_row, y + done * y_row, y_row, rows, columns - done);
  }
#endif
  for_tiles<kTransposeTile>(rows, columns, [=](int i, int j, int height, int width) {
    transpose_tile_of_pairs(x + i * x_row + 2 * j, x_row, y + j * y_row + 2 * i, y_row, height,
                            width);
  });
}

// The same with elements of 8 bytes, of which fewer are in a cache beside their copies.
static inline void transpose_longs(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                   int rows, int columns) {
  for_tiles<kTransposeTile / 2>(rows, columns, [=](int i, int j, int height, int width) {
    transpose_tile_of_longs(x + i * x_row + 8 * j, x_row, y + j * y_row + 8 * i, y_row, height,
                            width);
  });
}

}  // namespace rt
}  // namespace etch
