// Matrices of bytes and of 4-byte elements, transposed: channels first to channels last and back.
// Blocks are exchanged in registers of SSE2 or 64-bit Arm, or in words of the machine elsewhere, in
// tiles that a first-level cache holds. C++17, freestanding, the same result
// everywhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_pixels.h"
#include "etch_transpose_registers.h"

namespace etch {
namespace rt {

constexpr int kTransposeTile = 64;                   // rows and columns
constexpr int kTransposeLeast = kTransposeTile / 4;  // fewer are left to the tile before

// Calls body(i, j, height, width) for tiles that cover all rows and columns: of `tile` of each, the
// last of up to a quarter more.
template <int tile, class Body>
static inline void for_tiles(int rows, int columns, Body body) {
  const auto part = [](int left) { return left < tile + tile / 4 ? left : tile; };
  for (int i = 0; i < rows; i += part(rows - i)) {
    for (int j = 0; j < columns; j += part(columns - j))
      body(i, j, part(rows - i), part(columns - j));
  }
}

// Row i, `i` less than `rows`, of `columns` bytes at x + i * x_row becomes a column of y, whose
// rows are y_row apart: y[j * y_row + i] = x[i * x_row + j] ^ flip.
static inline void transpose_rest(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                  int rows, int columns, int flip) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j)
      y[j * y_row + i] = static_cast<uint8_t>(x[i * x_row + j] ^ flip);
  }
}

// ---- blocks of bytes ----

#if defined(ETCH_TRANSPOSE_REGISTERS)
// 8 rows of 16 bytes.
constexpr int kBlockRows = 8, kBlockColumns = 16;
constexpr int kTallRows = 16, kTallColumns = 8;
constexpr int kSmallRows = 8, kSmallColumns = 8;

static inline Register load_row(const uint8_t* x, Register flip) {
  return either(load_words(x), flip);
}
// Four columns: a and b have pairs of rows 0 to 3 and c and d of rows 4 to 7.
static inline void store_columns(uint8_t* y, ptrdiff_t y_row, Register a, Register c) {
  store_rows(y, y_row, low_words(a, c));
  store_rows(y + 2 * y_row, y_row, high_words(a, c));
}

static inline void transpose_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                   int flip) {
  const Register all = all_bytes(flip);
  const Register r0 = load_row(x, all), r1 = load_row(x + x_row, all);
  const Register r2 = load_row(x + 2 * x_row, all), r3 = load_row(x + 3 * x_row, all);
  const Register r4 = load_row(x + 4 * x_row, all), r5 = load_row(x + 5 * x_row, all);
  const Register r6 = load_row(x + 6 * x_row, all), r7 = load_row(x + 7 * x_row, all);
  const Register a0 = low_bytes(r0, r1), a1 = high_bytes(r0, r1);
  const Register b0 = low_bytes(r2, r3), b1 = high_bytes(r2, r3);
  const Register c0 = low_bytes(r4, r5), c1 = high_bytes(r4, r5);
  const Register d0 = low_bytes(r6, r7), d1 = high_bytes(r6, r7);
  store_columns(y, y_row, low_pairs(a0, b0), low_pairs(c0, d0));
  store_columns(y + 4 * y_row, y_row, high_pairs(a0, b0), high_pairs(c0, d0));
  store_columns(y + 8 * y_row, y_row, low_pairs(a1, b1), low_pairs(c1, d1));
  store_columns(y + 12 * y_row, y_row, high_pairs(a1, b1), high_pairs(c1, d1));
}

static inline Register load_two(const uint8_t* x, ptrdiff_t x_row) {
  return low_bytes(load_half(x), load_half(x + x_row));
}
static inline void store_two(uint8_t* y, ptrdiff_t y_row, Register upper, Register lower,
                             Register flip) {
  store_words(y, either(low_halves(upper, lower), flip));
  store_words(y + y_row, either(high_halves(upper, lower), flip));
}

// 16 rows of 8 bytes: for a y whose rows are so far apart that a cache holds few of them at once.
static inline void transpose_tall_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                        ptrdiff_t y_row, int flip) {
  const Register all = all_bytes(flip);
  const Register a = load_two(x, x_row), b = load_two(x + 2 * x_row, x_row);
  const Register c = load_two(x + 4 * x_row, x_row), d = load_two(x + 6 * x_row, x_row);
  const Register e = load_two(x + 8 * x_row, x_row), f = load_two(x + 10 * x_row, x_row);
  const Register g = load_two(x + 12 * x_row, x_row), h = load_two(x + 14 * x_row, x_row);
  const Register ab0 = low_pairs(a, b), ab1 = high_pairs(a, b);
  const Register cd0 = low_pairs(c, d), cd1 = high_pairs(c, d);
  const Register ef0 = low_pairs(e, f), ef1 = high_pairs(e, f);
  const Register gh0 = low_pairs(g, h), gh1 = high_pairs(g, h);
  store_two(y, y_row, low_words(ab0, cd0), low_words(ef0, gh0), all);
  store_two(y + 2 * y_row, y_row, high_words(ab0, cd0), high_words(ef0, gh0), all);
  store_two(y + 4 * y_row, y_row, low_words(ab1, cd1), low_words(ef1, gh1), all);
  store_two(y + 6 * y_row, y_row, high_words(ab1, cd1), high_words(ef1, gh1), all);
}

// 8 rows of 8 bytes: where neither of the others fits.
static inline void transpose_small_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                         ptrdiff_t y_row, int flip) {
  const Register all = all_bytes(flip);
  const Register a = load_two(x, x_row), b = load_two(x + 2 * x_row, x_row);
  const Register c = load_two(x + 4 * x_row, x_row), d = load_two(x + 6 * x_row, x_row);
  const Register ab0 = either(low_pairs(a, b), all);
  const Register ab1 = either(high_pairs(a, b), all);
  const Register cd0 = either(low_pairs(c, d), all);
  const Register cd1 = either(high_pairs(c, d), all);
  store_columns(y, y_row, ab0, cd0);
  store_columns(y + 4 * y_row, y_row, ab1, cd1);
}

#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#if UINTPTR_MAX > 0xFFFFFFFFU
using TransposeWord = uint64_t;
#else
using TransposeWord = uint32_t;
#endif
// As many rows and columns as a word has bytes.
constexpr int kBlockRows = static_cast<int>(sizeof(TransposeWord)), kBlockColumns = kBlockRows;
constexpr int kTallRows = kBlockRows, kTallColumns = kBlockColumns;
constexpr int kSmallRows = kBlockRows, kSmallColumns = kBlockColumns;

// Exchanges the odd pieces of a with the even pieces of b; pieces have `bits`, `even` masks them.
static inline void exchange_pieces(TransposeWord& a, TransposeWord& b, int bits, uint64_t even) {
  const TransposeWord both = ((a >> bits) ^ b) & static_cast<TransposeWord>(even);
  b ^= both;
  a ^= both << bits;
}

static inline TransposeWord load_row(const uint8_t* x, TransposeWord flip) {
  TransposeWord row;
  ETCH_MEMCPY(&row, x, sizeof row);
  return row ^ flip;
}
static inline void store_row(uint8_t* y, TransposeWord row) { ETCH_MEMCPY(y, &row, sizeof row); }

constexpr uint64_t kEvenBytes = 0x00FF00FF00FF00FFU;
constexpr uint64_t kEvenPairs = 0x0000FFFF0000FFFFU;
constexpr uint64_t kLowHalf = 0x00000000FFFFFFFFU;

// Every row is a variable: compilers do not take arrays apart at -O2.
#if UINTPTR_MAX > 0xFFFFFFFFU
static inline void transpose_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                   int flip_byte) {
  const TransposeWord flip =
      static_cast<TransposeWord>(0x0101010101010101U) * static_cast<TransposeWord>(flip_byte);
  TransposeWord r0 = load_row(x, flip), r1 = load_row(x + x_row, flip);
  TransposeWord r2 = load_row(x + 2 * x_row, flip), r3 = load_row(x + 3 * x_row, flip);
  TransposeWord r4 = load_row(x + 4 * x_row, flip), r5 = load_row(x + 5 * x_row, flip);
  TransposeWord r6 = load_row(x + 6 * x_row, flip), r7 = load_row(x + 7 * x_row, flip);
  exchange_pieces(r0, r4, 32, kLowHalf);
  exchange_pieces(r1, r5, 32, kLowHalf);
  exchange_pieces(r2, r6, 32, kLowHalf);
  exchange_pieces(r3, r7, 32, kLowHalf);
  exchange_pieces(r0, r2, 16, kEvenPairs);
  exchange_pieces(r1, r3, 16, kEvenPairs);
  exchange_pieces(r0, r1, 8, kEvenBytes);
  store_row(y, r0);
  store_row(y + y_row, r1);
  exchange_pieces(r2, r3, 8, kEvenBytes);
  store_row(y + 2 * y_row, r2);
  store_row(y + 3 * y_row, r3);
  exchange_pieces(r4, r6, 16, kEvenPairs);
  exchange_pieces(r5, r7, 16, kEvenPairs);
  exchange_pieces(r4, r5, 8, kEvenBytes);
  store_row(y + 4 * y_row, r4);
  store_row(y + 5 * y_row, r5);
  exchange_pieces(r6, r7, 8, kEvenBytes);
  store_row(y + 6 * y_row, r6);
  store_row(y + 7 * y_row, r7);
}
#else
static inline void transpose_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                   int flip_byte) {
  const TransposeWord flip =
      static_cast<TransposeWord>(0x0101010101010101U) * static_cast<TransposeWord>(flip_byte);
  TransposeWord r0 = load_row(x, flip), r1 = load_row(x + x_row, flip);
  TransposeWord r2 = load_row(x + 2 * x_row, flip), r3 = load_row(x + 3 * x_row, flip);
  exchange_pieces(r0, r2, 16, kEvenPairs);
  exchange_pieces(r1, r3, 16, kEvenPairs);
  exchange_pieces(r0, r1, 8, kEvenBytes);
  exchange_pieces(r2, r3, 8, kEvenBytes);
  store_row(y, r0);
  store_row(y + y_row, r1);
  store_row(y + 2 * y_row, r2);
  store_row(y + 3 * y_row, r3);
}
#endif

static inline void transpose_tall_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                        ptrdiff_t y_row, int flip) {
  transpose_block(x, x_row, y, y_row, flip);
}

static inline void transpose_small_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                         ptrdiff_t y_row, int flip) {
  transpose_block(x, x_row, y, y_row, flip);
}

#else  // plain loops only
constexpr int kBlockRows = 0, kBlockColumns = 0, kTallRows = 0, kTallColumns = 0;
constexpr int kSmallRows = 0, kSmallColumns = 0;
static inline void transpose_small_block(const uint8_t*, ptrdiff_t, uint8_t*, ptrdiff_t, int) {}
static inline void transpose_block(const uint8_t*, ptrdiff_t, uint8_t*, ptrdiff_t, int) {}
static inline void transpose_tall_block(const uint8_t*, ptrdiff_t, uint8_t*, ptrdiff_t, int) {}
#endif

// Where the block after the one at `at` starts: the last one of `size` overlaps it, if it has to.
static inline int next_block(int at, int size, int block) {
  return at + block < size && at + 2 * block > size ? size - block : at + block;
}

// Calls block(i, j) for blocks that cover all rows and columns, neighbours in a row or in a column
// one after the other.
template <class Block>
static inline void for_blocks(int rows, int columns, int height, int width, bool along_rows,
                              Block block) {
  if (!along_rows) {
    for (int j = 0; j < columns; j = next_block(j, columns, width)) {
      for (int i = 0; i < rows; i = next_block(i, rows, height)) block(i, j);
    }
    return;
  }
  for (int i = 0; i < rows; i = next_block(i, rows, height)) {
    for (int j = 0; j < columns; j = next_block(j, columns, width)) block(i, j);
  }
}

static inline void transpose_tile(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                  int rows, int columns, int flip) {
  const auto fits = [=](int height, int width) {
    return height != 0 && rows >= height && columns >= width;
  };
  // The side whose rows are farther apart is walked along its rows.
  const bool tall = x_row <= y_row;
  const bool plain_fits = fits(kBlockRows, kBlockColumns);
  if (fits(kTallRows, kTallColumns) && (tall || !plain_fits)) {
    for_blocks(rows, columns, kTallRows, kTallColumns, !tall, [=](int i, int j) {
      transpose_tall_block(x + i * x_row + j, x_row, y + j * y_row + i, y_row, flip);
    });
  } else if (plain_fits) {
    for_blocks(rows, columns, kBlockRows, kBlockColumns, !tall, [=](int i, int j) {
      transpose_block(x + i * x_row + j, x_row, y + j * y_row + i, y_row, flip);
    });
  } else if (fits(kSmallRows, kSmallColumns)) {
    for_blocks(rows, columns, kSmallRows, kSmallColumns, !tall, [=](int i, int j) {
      transpose_small_block(x + i * x_row + j, x_row, y + j * y_row + i, y_row, flip);
    });
  } else {
    transpose_rest(x, x_row, y, y_row, rows, columns, flip);
  }
}

// y[j * y_row + i] = x[i * x_row + j] ^ flip; 0 <= flip < 256.
static inline void transpose_bytes(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                   int rows, int columns, int flip) {
#if defined(__AVX__)
  if (rows == 3 && y_row == 3) {
    const int done = pixels_of_planes(x, x_row, y, columns, flip);
    return transpose_rest(x + done, x_row, y + 3 * done, 3, 3, columns - done, flip);
  }
  if (columns == 3 && x_row == 3) {
    const int done = planes_of_pixels(x, y, y_row, rows, flip);
    return transpose_rest(x + 3 * done, 3, y + done, y_row, rows - done, 3, flip);
  }
  if (rows == 2 && y_row == 2) {
    const int done = pairs_of_planes(x, x_row, y, columns, flip);
    return transpose_rest(x + done, x_row, y + 2 * done, 2, 2, columns - done, flip);
  }
  if (columns == 2 && x_row == 2) {
    const int done = planes_of_pairs(x, y, y_row, rows, flip);
    return transpose_rest(x + 2 * done, 2, y + done, y_row, rows - done, 2, flip);
  }
#endif
  for_tiles<kTransposeTile>(rows, columns, [=](int i, int j, int height, int width) {
    transpose_tile(x + i * x_row + j, x_row, y + j * y_row + i, y_row, height, width, flip);
  });
}

// Elements of `size` bytes, one by one; x_row and y_row are in bytes.
template <int size>
static inline void transpose_single(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                    int rows, int columns) {
  if (x_row > y_row) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j)
        ETCH_MEMCPY(y + j * y_row + size * i, x + i * x_row + size * j, size);
    }
    return;
  }
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i)
      ETCH_MEMCPY(y + j * y_row + size * i, x + i * x_row + size * j, size);
  }
}

#if defined(ETCH_TRANSPOSE_REGISTERS)
// 4 rows of 4 elements.
static inline void transpose_word_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                        ptrdiff_t y_row) {
  const Register r0 = load_words(x), r1 = load_words(x + x_row);
  const Register r2 = load_words(x + 2 * x_row), r3 = load_words(x + 3 * x_row);
  const Register a0 = low_words(r0, r1), a1 = high_words(r0, r1);
  const Register b0 = low_words(r2, r3), b1 = high_words(r2, r3);
  store_words(y, low_halves(a0, b0));
  store_words(y + y_row, high_halves(a0, b0));
  store_words(y + 2 * y_row, low_halves(a1, b1));
  store_words(y + 3 * y_row, high_halves(a1, b1));
}

#if defined(__AVX__)
// Two rows of 4 elements, `distance` bytes apart, in the halves of a vector.
static inline __m256 load_halves(const uint8_t* x, ptrdiff_t distance) {
  const __m256 low = _mm256_castps128_ps256(_mm_castsi128_ps(load_words(x)));
  return _mm256_insertf128_ps(low, _mm_castsi128_ps(load_words(x + distance)), 1);
}
static inline void store_wide(uint8_t* y, __m256 a, __m256 b, bool upper) {
  const __m256d low = _mm256_castps_pd(a), high = _mm256_castps_pd(b);
  const __m256d row = upper ? _mm256_unpackhi_pd(low, high) : _mm256_unpacklo_pd(low, high);
  _mm256_storeu_ps(reinterpret_cast<float*>(y), _mm256_castpd_ps(row));
}

// 8 rows of 4 floats as 4 columns.
struct HalfBlock {
  __m256 c0, c1, c2, c3;
};
static inline HalfBlock columns_of_rows(const float* x, ptrdiff_t x_row) {
  const auto* const first = reinterpret_cast<const uint8_t*>(x);
  const ptrdiff_t row = 4 * x_row, distance = 4 * row;  // in bytes
  const __m256 r0 = load_halves(first, distance), r1 = load_halves(first + row, distance);
  const __m256 r2 = load_halves(first + 2 * row, distance);
  const __m256 r3 = load_halves(first + 3 * row, distance);
  const __m256d a0 = _mm256_castps_pd(_mm256_unpacklo_ps(r0, r1));
  const __m256d a1 = _mm256_castps_pd(_mm256_unpackhi_ps(r0, r1));
  const __m256d b0 = _mm256_castps_pd(_mm256_unpacklo_ps(r2, r3));
  const __m256d b1 = _mm256_castps_pd(_mm256_unpackhi_ps(r2, r3));
  return {
      _mm256_castpd_ps(_mm256_unpacklo_pd(a0, b0)), _mm256_castpd_ps(_mm256_unpackhi_pd(a0, b0)),
      _mm256_castpd_ps(_mm256_unpacklo_pd(a1, b1)), _mm256_castpd_ps(_mm256_unpackhi_pd(a1, b1))};
}

// 8 rows of 4 elements.
static inline void transpose_half_block(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                        ptrdiff_t y_row) {
  const ptrdiff_t distance = 4 * x_row;
  const __m256 r0 = load_halves(x, distance), r1 = load_halves(x + x_row, distance);
  const __m256 r2 = load_halves(x + 2 * x_row, distance);
  const __m256 r3 = load_halves(x + 3 * x_row, distance);
  const __m256 a0 = _mm256_unpacklo_ps(r0, r1), a1 = _mm256_unpackhi_ps(r0, r1);
  const __m256 b0 = _mm256_unpacklo_ps(r2, r3), b1 = _mm256_unpackhi_ps(r2, r3);
  store_wide(y, a0, b0, false);
  store_wide(y + y_row, a0, b0, true);
  store_wide(y + 2 * y_row, a1, b1, false);
  store_wide(y + 3 * y_row, a1, b1, true);
}
#endif

// 2 or 3 rows of 4 elements, as columns of as many.
static inline void transpose_few_rows(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                      ptrdiff_t y_row, int rows) {
  const Register r0 = load_words(x), r1 = load_words(x + x_row);
  const Register r2 = rows == 3 ? load_words(x + 2 * x_row) : r0;
  store_rows(y, y_row, low_words(r0, r1));
  store_rows(y + 2 * y_row, y_row, high_words(r0, r1));
  if (rows == 2) return;
  const Register first = low_words(r2, r2), last = high_words(r2, r2);
  store_word(y + 8, first);
  store_word(y + y_row + 8, high_halves(first, first));
  store_word(y + 2 * y_row + 8, last);
  store_word(y + 3 * y_row + 8, high_halves(last, last));
}

// 4 rows of 2 or 3 elements, as so many of 4; rows are read as if they had 4.
static inline void transpose_few_columns(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                         ptrdiff_t y_row, int columns) {
  const Register r0 = load_words(x), r1 = load_words(x + x_row);
  const Register r2 = load_words(x + 2 * x_row), r3 = load_words(x + 3 * x_row);
  const Register a0 = low_words(r0, r1), b0 = low_words(r2, r3);
  store_words(y, low_halves(a0, b0));
  store_words(y + y_row, high_halves(a0, b0));
  if (columns == 3) {
    store_words(y + 2 * y_row, low_halves(high_words(r0, r1), high_words(r2, r3)));
  }
}

// Matrices of which one side is 2 or 3: pixels of images. Returns how much of the other side is
// done; after rows that are read too far there are others.
static inline int transpose_few(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                int rows, int columns) {
  int at = 0;
  if (rows < 4) {
    for (; at + 4 <= columns; at += 4)
      transpose_few_rows(x + 4 * at, x_row, y + at * y_row, y_row, rows);
  } else {
    for (; at + 4 < rows; at += 4)
      transpose_few_columns(x + at * x_row, x_row, y + 4 * at, y_row, columns);
  }
  return at;
}

static inline void transpose_word_tile(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                       ptrdiff_t y_row, int rows, int columns) {
  if (rows < 4 || columns < 4) return transpose_single<4>(x, x_row, y, y_row, rows, columns);
#if defined(__AVX__)
  if (rows >= 8) {
    for_blocks(rows, columns, 8, 4, x_row > y_row, [=](int i, int j) {
      transpose_half_block(x + i * x_row + 4 * j, x_row, y + j * y_row + 4 * i, y_row);
    });
    return;
  }
#endif
  for_blocks(rows, columns, 4, 4, x_row > y_row, [=](int i, int j) {
    transpose_word_block(x + i * x_row + 4 * j, x_row, y + j * y_row + 4 * i, y_row);
  });
}
#else
static inline void transpose_word_tile(const uint8_t* x, ptrdiff_t x_row, uint8_t* y,
                                       ptrdiff_t y_row, int rows, int columns) {
  transpose_single<4>(x, x_row, y, y_row, rows, columns);
}
#endif

// The same as transpose_bytes() with elements of 4 bytes; x_row and y_row are in bytes.
static inline void transpose_words(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, ptrdiff_t y_row,
                                   int rows, int columns) {
#if defined(ETCH_TRANSPOSE_REGISTERS)
  const int few = rows < columns ? rows : columns, many = rows + columns - few;
  if ((few == 2 || few == 3) && many >= 8 && x_row >= 8) {
    const int done = transpose_few(x, x_row, y, y_row, rows, columns);
    if (rows == few) {
      transpose_single<4>(x + 4 * done, x_row, y + done * y_row, y_row, rows, columns - done);
    } else {
      transpose_single<4>(x + done * x_row, x_row, y + 4 * done, y_row, rows - done, columns);
    }
    return;
  }
#endif
  for_tiles<kTransposeTile>(rows, columns, [=](int i, int j, int height, int width) {
    transpose_word_tile(x + i * x_row + 4 * j, x_row, y + j * y_row + 4 * i, y_row, height, width);
  });
}

}  // namespace rt
}  // namespace etch
