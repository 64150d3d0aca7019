// Products of two matrices of 16-bit values, requantized to 16 bits with integers alone:
//   sum = the sum over k of (a - a_zero) * (b - b_zero)     below 2^52 in size, exact
//   y   = limits of rne(sum * m / 2^e) + y_zero             m: 60 bits, exact; ties to even
// With vectors b is taken as 256 * high + low, whose products with a are sums of 32 bits for 256
// values of k; cores with SMLALD add two products at a time to 64 bits. Zero points are taken off
// once per row and column; etch_word_totals.h rounds the sums. C++17, freestanding, no heap, no
// state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_intrinsics.h"
#include "etch_word_totals.h"

namespace etch {
namespace rt {

// Rows of a, b and y are so many elements apart, their elements side by side.
struct WordMatrices {
  int32_t rows, depth, cols;  // a: rows x depth; depth is at most 2^20
  ptrdiff_t a_row, b_row, y_row;
};

// One element of y, from a row of a and a column of b.
template <class T>
ETCH_INLINE T word_dot(const WordMatrices& s, const WordProduct& end, const WordGuess& guess,
                       const T* a, const T* b) {
  int64_t sum = 0;
  for (int32_t k = 0; k < s.depth; ++k) {
    const int32_t left = a[k] - end.a_zero, right = b[k * s.b_row] - end.b_zero;
    sum += int64_t{left} * right;
  }
  return near_total<T>(end, guess, sum);
}

#if defined(__GNUC__) && defined(__SSE4_1__)
#define ETCH_WORD_MATRICES 1
// Sums stay in registers only where loops over the rows of a tile are none.
#define ETCH_EACH_ROW _Pragma("GCC unroll 4")
// Pairs of 16 bits for columns side by side.
#if defined(__AVX2__)
constexpr int32_t kMatrixColumns = 8;
typedef __m256i WordPairs;
ETCH_INLINE WordPairs same_pairs(int32_t pair) { return _mm256_set1_epi32(pair); }
ETCH_INLINE WordPairs products_of_pairs(WordPairs a, WordPairs b) {
  return _mm256_madd_epi16(a, b);
}
ETCH_INLINE WordPairs sum_of_pairs(WordPairs a, WordPairs b) { return _mm256_add_epi32(a, b); }
ETCH_INLINE WordPairs upper_bytes(WordPairs v) { return _mm256_srai_epi16(v, 8); }
ETCH_INLINE WordPairs lower_bytes(WordPairs v) {
  return _mm256_and_si256(v, _mm256_set1_epi16(255));
}
template <class T>
ETCH_INLINE __m128i load_columns(const T* b) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
}
ETCH_INLINE WordPairs pairs_of(__m128i first, __m128i second) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi16(first, second)),
                                 _mm_unpackhi_epi16(first, second), 1);
}
#else
constexpr int32_t kMatrixColumns = 4;
typedef __m128i WordPairs;
ETCH_INLINE WordPairs same_pairs(int32_t pair) { return _mm_set1_epi32(pair); }
ETCH_INLINE WordPairs products_of_pairs(WordPairs a, WordPairs b) { return _mm_madd_epi16(a, b); }
ETCH_INLINE WordPairs sum_of_pairs(WordPairs a, WordPairs b) { return _mm_add_epi32(a, b); }
ETCH_INLINE WordPairs upper_bytes(WordPairs v) { return _mm_srai_epi16(v, 8); }
ETCH_INLINE WordPairs lower_bytes(WordPairs v) { return _mm_and_si128(v, _mm_set1_epi16(255)); }
template <class T>
ETCH_INLINE __m128i load_columns(const T* b) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b));
}
ETCH_INLINE WordPairs pairs_of(__m128i first, __m128i second) {
  return _mm_unpacklo_epi16(first, second);
}
#endif

// Two neighbours of a; with `one` the second is 0.
template <class T>
ETCH_INLINE int32_t pair_at(const T* a, bool one) {
  const uint32_t first = static_cast<uint16_t>(a[0]) ^ static_cast<uint32_t>(kWordFlip<T>);
  if (one) return static_cast<int32_t>(first);
  const uint32_t second = static_cast<uint16_t>(a[1]) ^ static_cast<uint32_t>(kWordFlip<T>);
  return static_cast<int32_t>(first | second << 16);
}

// Whether a lane is not 0.
ETCH_INLINE bool has_lane(WideVector v) {
#if defined(__AVX512BW__)
  const auto lanes = reinterpret_cast<__m512i>(v);
  return _mm512_test_epi64_mask(lanes, lanes) != 0;
#elif defined(__AVX2__)
  const auto lanes = reinterpret_cast<__m256i>(v);
  return _mm256_testz_si256(lanes, lanes) == 0;
#else
  const auto lanes = reinterpret_cast<__m128i>(v);
  return _mm_testz_si128(lanes, lanes) == 0;
#endif
}

template <class T>
ETCH_INLINE void total_lanes(const WordProduct& s, const WordGuess& guess, WideVector sum, T* y) {
  typedef T Result __attribute__((vector_size(sizeof(T) * kWideLanes)));
  constexpr int64_t kMostPart = int64_t{1} << 30, kNear = int64_t{1} << 31;
  constexpr int64_t kPositive = int64_t{1} << 61;  // added so that shifts are those of unsigned
  const WideVector none = {};
  const WideVector most = none + (kMostPart << guess.dropped), least = none - most;
  const WideVector above = sum > least ? sum : least;
  const WideVector cut = (above < most ? above : most) + most;
  const auto part = reinterpret_cast<UnsignedWide>(cut) >> guess.dropped;
  const WideVector exact = reinterpret_cast<WideVector>(part) - kMostPart;
  const WideVector product = wide_product(exact, none + static_cast<int64_t>(s.high)) +
                             (kPositive + (int64_t{1} << (guess.shift - 1)));
  const WideVector nearest =
      reinterpret_cast<WideVector>(reinterpret_cast<UnsignedWide>(product) >> guess.shift) -
      (kPositive >> guess.shift) + s.y.zero;
  const WideVector low = none + s.y.low, high = none + s.y.high;
  const WideVector at_least = nearest > low ? nearest : low;
  const Result result = __builtin_convertvector(at_least < high ? at_least : high, Result);
  ETCH_MEMCPY(y, &result, sizeof result);
  const WideVector open = ((product + kNear) & ((int64_t{1} << guess.shift) - 2 * kNear)) == 0;
  if (!has_lane(open)) return;
  for (int32_t c = 0; c < kWideLanes; ++c) {
    if (open[c] != 0) y[c] = word_total<T>(s, sum[c]);
  }
}

// What kMatrixColumns columns have for some rows of a: sums of a * b, and of b alone.
constexpr int32_t kMatrixParts = kMatrixColumns / kWideLanes;
template <int rows>
struct WordTotals {
  WideVector products[static_cast<size_t>(rows)][static_cast<size_t>(kMatrixParts)];
  WideVector columns[static_cast<size_t>(kMatrixParts)];
};

template <int rows>
ETCH_INLINE void clear(WordTotals<rows>& totals) {
  const WideVector none = {};
  ETCH_EACH_ROW
  for (int32_t v = 0; v < kMatrixParts; ++v) {
    totals.columns[v] = none;
    ETCH_EACH_ROW
    for (int r = 0; r < rows; ++r) totals.products[r][v] = none;
  }
}

// totals += 2^bits * sums.
template <int bits>
ETCH_INLINE void add_lanes(WordPairs sums, WideVector* totals) {
  int32_t lanes[static_cast<size_t>(kMatrixColumns)];
  ETCH_MEMCPY(lanes, &sums, sizeof lanes);
  ETCH_EACH_ROW
  for (int32_t v = 0; v < kMatrixParts; ++v)
    totals[v] += load_wide(lanes + v * kWideLanes) * (int64_t{1} << bits);
}

// For `depth` values of k, at most 256: sums of 256 products with low bytes are below 2^31.
template <int rows, class T>
ETCH_INLINE void add_depth(const WordMatrices& s, int32_t depth, const T* a, const T* b,
                           WordTotals<rows>& totals) {
  const WordPairs none = same_pairs(0), ones = same_pairs(0x10001);
  const __m128i flip = _mm_set1_epi16(static_cast<int16_t>(kWordFlip<T>));
  WordPairs high[static_cast<size_t>(rows)], low[static_cast<size_t>(rows)], columns = none;
  ETCH_EACH_ROW
  for (int r = 0; r < rows; ++r) high[r] = low[r] = none;
  for (int32_t k = 0; k < depth; k += 2) {
    const bool one = k + 1 == depth;
    const __m128i first = _mm_xor_si128(load_columns(b + k * s.b_row), flip);
    const __m128i second =
        one ? _mm_setzero_si128() : _mm_xor_si128(load_columns(b + (k + 1) * s.b_row), flip);
    const WordPairs pairs = pairs_of(first, second);
    const WordPairs upper = upper_bytes(pairs), lower = lower_bytes(pairs);
    columns = sum_of_pairs(columns, products_of_pairs(pairs, ones));
    ETCH_EACH_ROW
    for (int r = 0; r < rows; ++r) {
      const WordPairs left = same_pairs(pair_at(a + r * s.a_row + k, one));
      high[r] = sum_of_pairs(high[r], products_of_pairs(left, upper));
      low[r] = sum_of_pairs(low[r], products_of_pairs(left, lower));
    }
  }
  add_lanes<0>(columns, totals.columns);
  ETCH_EACH_ROW
  for (int r = 0; r < rows; ++r) {
    add_lanes<8>(high[r], totals.products[r]);
    add_lanes<0>(low[r], totals.products[r]);
  }
}

// The results of one tile. `zeros`: what the zero point of b takes off each row.
template <int rows, class T>
ETCH_INLINE void finish_totals(const WordMatrices& s, const WordProduct& end,
                               const WordTotals<rows>& totals, const int64_t* zeros, T* y) {
  const WordGuess guess = guess_of(end);
  const int64_t a_zero = end.a_zero - kWordFlip<T>;
  ETCH_EACH_ROW
  for (int32_t v = 0; v < kMatrixParts; ++v) {
    WideVector of_columns = {};
    if (a_zero != 0) of_columns = totals.columns[v] * a_zero;
    ETCH_EACH_ROW
    for (int r = 0; r < rows; ++r) {
      const WideVector sum = totals.products[r][v] - of_columns - zeros[r];
      T* const to = y + r * s.y_row + v * kWideLanes;
      if (guess.is_any) {
        total_lanes(end, guess, sum, to);
      } else {
        for (int32_t c = 0; c < kWideLanes; ++c) to[c] = word_total<T>(end, sum[c]);
      }
    }
  }
}

// `rows` rows of all columns, which are kMatrixColumns or more: the last tile may overlap the one
// before it.
template <int rows, class T>
static inline void multiply_rows(const WordMatrices& s, const WordProduct& end, const T* a,
                                 const T* b, T* y) {
  int64_t zeros[static_cast<size_t>(rows)];
  for (int r = 0; r < rows; ++r) {
    int64_t sum = static_cast<int64_t>(s.depth) * -end.a_zero;
    for (int32_t k = 0; k < s.depth; ++k) sum += a[r * s.a_row + k];
    zeros[r] = sum * (end.b_zero - kWordFlip<T>);
  }
  for (int32_t column = 0; column < s.cols; column += kMatrixColumns) {
    const int32_t c0 = column + kMatrixColumns > s.cols ? s.cols - kMatrixColumns : column;
    WordTotals<rows> totals;
    clear(totals);
    for (int32_t k = 0; k < s.depth; k += 256) {
      const int32_t depth = s.depth - k < 256 ? s.depth - k : 256;
      add_depth(s, depth, a + k, b + k * s.b_row + c0, totals);
    }
    finish_totals(s, end, totals, zeros, y + c0);
  }
}
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ETCH_WORD_TILES 1
constexpr int32_t kMatrixColumns = 8, kMatrixRows = 4;

// Sums of a row of a with eight columns, of the high bytes of b and of the low ones.
struct ByteSums {
  int32x4_t high[2], low[2];
};

// The next four values of k: number k of them is element k of `a`.
template <int k>
ETCH_INLINE void add_element(ByteSums& sums, int16x4_t a, int16x8_t high, int16x8_t low) {
  sums.high[0] = vmlal_lane_s16(sums.high[0], vget_low_s16(high), a, k);
  sums.high[1] = vmlal_high_lane_s16(sums.high[1], high, a, k);
  sums.low[0] = vmlal_lane_s16(sums.low[0], vget_low_s16(low), a, k);
  sums.low[1] = vmlal_high_lane_s16(sums.low[1], low, a, k);
}

template <class T>
ETCH_INLINE int16x8_t signed_columns(const T* b) {
  int16x8_t v;
  ETCH_MEMCPY(&v, b, sizeof v);
  return veorq_s16(v, vdupq_n_s16(static_cast<int16_t>(kWordFlip<T>)));
}

// Number k of the values of k, of all rows.
template <int k, int rows, class T>
ETCH_INLINE void add_row_of_b(ByteSums* sums, const int16x4_t* a, const T* b) {
  const int16x8_t columns = signed_columns(b);
  const int16x8_t high = vshrq_n_s16(columns, 8), low = vandq_s16(columns, vdupq_n_s16(255));
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) add_element<k>(sums[r], a[r], high, low);
}

// `count` elements of rows of a, at most four; others are 0.
template <int rows, class T>
ETCH_INLINE void load_rows(const WordMatrices& s, const T* a, int32_t count, int16x4_t* to) {
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    const T* const from = a + r * s.a_row;
    T few[4] = {};
    for (int32_t k = 0; count < 4 && k < count; ++k) few[k] = from[k];
    ETCH_MEMCPY(&to[r], count < 4 ? few : from, sizeof to[r]);
    to[r] = veor_s16(to[r], vdup_n_s16(static_cast<int16_t>(kWordFlip<T>)));
  }
}

// sums[r][c] = the sum of a * b over at most 256 values of k is below 2^31 for each kind of byte.
template <int rows, class T>
ETCH_INLINE void add_products(const WordMatrices& s, const T* a, const T* b, int64_t* sums) {
  for (int32_t first = 0; first < s.depth; first += 256) {
    const int32_t end = s.depth - first < 256 ? s.depth : first + 256;
    ByteSums bytes[static_cast<size_t>(rows)] = {};
    int16x4_t left[static_cast<size_t>(rows)] = {};
    int32_t k = first;
    for (; k + 4 <= end; k += 4) {
      const T* const at = b + k * s.b_row;
      load_rows<rows>(s, a + k, 4, left);
      add_row_of_b<0, rows>(bytes, left, at);
      add_row_of_b<1, rows>(bytes, left, at + s.b_row);
      add_row_of_b<2, rows>(bytes, left, at + 2 * s.b_row);
      add_row_of_b<3, rows>(bytes, left, at + 3 * s.b_row);
    }
    if (k < end) load_rows<rows>(s, a + k, end - k, left);
    if (k < end) add_row_of_b<0, rows>(bytes, left, b + k * s.b_row);
    if (k + 1 < end) add_row_of_b<1, rows>(bytes, left, b + (k + 1) * s.b_row);
    if (k + 2 < end) add_row_of_b<2, rows>(bytes, left, b + (k + 2) * s.b_row);
    for (int r = 0; r < rows; ++r) {
      for (int32_t c = 0; c < kMatrixColumns; ++c) {
        sums[r * kMatrixColumns + c] +=
            int64_t{bytes[r].high[c / 4][c % 4]} * 256 + bytes[r].low[c / 4][c % 4];
      }
    }
  }
}
#elif defined(__GNUC__) && defined(__riscv_v)
#define ETCH_WORD_TILES 1
constexpr int32_t kMatrixColumns = 8, kMatrixRows = 4;

template <class T>
ETCH_INLINE vint32m2_t signed_columns(const T* b) {
  constexpr auto kFlip = static_cast<int16_t>(kWordFlip<T>);
  vint16m1_t words = __riscv_vle16_v_i16m1(reinterpret_cast<const int16_t*>(b), kMatrixColumns);
  if constexpr (kFlip != 0) words = __riscv_vxor_vx_i16m1(words, kFlip, kMatrixColumns);
  return __riscv_vsext_vf2_i32m2(words, kMatrixColumns);
}

// sum + an element of a, times the columns.
template <class T>
ETCH_INLINE vint64m4_t add_element(vint64m4_t sum, T a, vint32m2_t columns) {
  return __riscv_vwmacc_vx_i64m4(sum, a - kWordFlip<T>, columns, kMatrixColumns);
}

// sums[r][c] += the sum of a * b, whose steps of four rows share the columns.
template <int rows, class T>
ETCH_INLINE void add_products(const WordMatrices& s, const T* a, const T* b, int64_t* sums) {
  vint64m4_t first = __riscv_vle64_v_i64m4(sums, kMatrixColumns);
  if constexpr (rows == 1) {
    for (int32_t k = 0; k < s.depth; ++k, b += s.b_row)
      first = add_element(first, a[k], signed_columns(b));
  } else {
    static_assert(rows == kMatrixRows, "");
    const T *const a1 = a + s.a_row, *const a2 = a1 + s.a_row, *const a3 = a2 + s.a_row;
    vint64m4_t second = __riscv_vle64_v_i64m4(sums + kMatrixColumns, kMatrixColumns);
    vint64m4_t third = __riscv_vle64_v_i64m4(sums + 2 * kMatrixColumns, kMatrixColumns);
    vint64m4_t fourth = __riscv_vle64_v_i64m4(sums + 3 * kMatrixColumns, kMatrixColumns);
    for (int32_t k = 0; k < s.depth; ++k, b += s.b_row) {
      const vint32m2_t columns = signed_columns(b);
      first = add_element(first, a[k], columns);
      second = add_element(second, a1[k], columns);
      third = add_element(third, a2[k], columns);
      fourth = add_element(fourth, a3[k], columns);
    }
    __riscv_vse64_v_i64m4(sums + kMatrixColumns, second, kMatrixColumns);
    __riscv_vse64_v_i64m4(sums + 2 * kMatrixColumns, third, kMatrixColumns);
    __riscv_vse64_v_i64m4(sums + 3 * kMatrixColumns, fourth, kMatrixColumns);
  }
  __riscv_vse64_v_i64m4(sums, first, kMatrixColumns);
}
#elif defined(ETCH_WORD_PAIRS)
#define ETCH_WORD_TILES 1
constexpr int32_t kMatrixColumns = 2, kMatrixRows = 1;

template <class T>
ETCH_INLINE uint32_t two_words(const T* p) {
  uint32_t v;
  ETCH_MEMCPY(&v, p, sizeof v);
  return v ^ static_cast<uint32_t>(kWordFlip<T>) * 0x10001u;
}
ETCH_INLINE int64_t add_two(uint32_t a, uint32_t b, int64_t sum) {
  return __smlald(static_cast<int16x2_t>(a), static_cast<int16x2_t>(b), sum);
}

// The lower halves of two words, and the upper ones; g++ 12 takes two instructions for each.
ETCH_INLINE uint32_t lower_halves(uint32_t first, uint32_t second) {
  uint32_t out;
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(out) : "r"(first), "r"(second));
  return out;
}
ETCH_INLINE uint32_t upper_halves(uint32_t first, uint32_t second) {
  uint32_t out;
  __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(out) : "r"(second), "r"(first));
  return out;
}

// sums[c] += the sum of a * b over two values of k.
template <class T>
ETCH_INLINE void add_pair_of_k(const T* a, const T* b, const T* below, int64_t* sums) {
  const uint32_t left = two_words(a), upper = two_words(b), lower = two_words(below);
  sums[0] = add_two(left, lower_halves(upper, lower), sums[0]);
  sums[1] = add_two(left, upper_halves(upper, lower), sums[1]);
}

// The same of all pairs: a function of its own, so that nothing else has registers in its loop.
template <class T>
__attribute__((noinline)) static void add_pairs_of_k(const T* a, const T* b, ptrdiff_t step,
                                                     int32_t depth, int64_t* sums) {
  int64_t all[] = {sums[0], sums[1]};
  for (; depth >= 4; depth -= 4, a += 4) {
    const T* const third = b + 2 * step;
    add_pair_of_k(a, b, b + step, all);
    add_pair_of_k(a + 2, third, third + step, all);
    b = third + 2 * step;
  }
  if (depth >= 2) add_pair_of_k(a, b, b + step, all);
  sums[0] = all[0];
  sums[1] = all[1];
}

// sums[c] += the sum of a * b; of one row, as the sums of two take all registers.
template <int rows, class T>
ETCH_INLINE void add_products(const WordMatrices& s, const T* a, const T* b, int64_t* sums) {
  static_assert(rows == 1, "");
  add_pairs_of_k(a, b, s.b_row, s.depth, sums);
  if (s.depth % 2 == 0) return;
  const int32_t left = a[s.depth - 1] - kWordFlip<T>;
  const T* const last = b + (s.depth - 1) * s.b_row;
  for (int32_t c = 0; c < kMatrixColumns; ++c) sums[c] += int64_t{left} * (last[c] - kWordFlip<T>);
}
#endif

#if defined(ETCH_WORD_TILES)
// The results of kMatrixColumns columns for some rows. `columns`: what the zero point of a takes
// off.
template <int rows, class T>
ETCH_INLINE void multiply_tile(const WordMatrices& s, const WordProduct& end,
                               const WordGuess& guess, const int64_t* columns, const T* a,
                               const T* b, T* y) {
  int64_t sums[static_cast<size_t>(rows * kMatrixColumns)];
  for (int r = 0; r < rows; ++r) {
    int64_t of_row = 0;
    if (end.b_zero != kWordFlip<T>) {
      of_row = static_cast<int64_t>(s.depth) * -end.a_zero;
      for (int32_t k = 0; k < s.depth; ++k) of_row += a[r * s.a_row + k];
    }
    for (int32_t c = 0; c < kMatrixColumns; ++c)
      sums[r * kMatrixColumns + c] = -(of_row * (end.b_zero - kWordFlip<T>)) - columns[c];
  }
  add_products<rows>(s, a, b, sums);
  for (int r = 0; r < rows; ++r)
    near_totals<kMatrixColumns>(end, guess, sums + r * kMatrixColumns, y + r * s.y_row);
}

// kMatrixColumns columns of all rows.
template <class T>
static inline void multiply_columns(const WordMatrices& s, const WordProduct& end, const T* a,
                                    const T* b, T* y) {
  const WordGuess guess = guess_of(end);
  int64_t columns[static_cast<size_t>(kMatrixColumns)] = {};
  const int32_t a_zero = end.a_zero - kWordFlip<T>;
  for (int32_t k = 0; a_zero != 0 && k < s.depth; ++k) {
    for (int32_t c = 0; c < kMatrixColumns; ++c)
      columns[c] += int64_t{b[k * s.b_row + c] - kWordFlip<T>} * a_zero;
  }
  int32_t m = 0;
  for (; m + kMatrixRows <= s.rows; m += kMatrixRows)
    multiply_tile<kMatrixRows>(s, end, guess, columns, a + m * s.a_row, b, y + m * s.y_row);
  for (; m < s.rows; ++m)
    multiply_tile<1>(s, end, guess, columns, a + m * s.a_row, b, y + m * s.y_row);
}
#endif

// y = a * b.
template <class T>
static inline void matmul_words(const WordMatrices& s, const WordProduct& end, const T* a,
                                const T* b, T* y) {
  int32_t m = 0;
#if defined(ETCH_WORD_MATRICES)
  if (s.cols >= kMatrixColumns) {
    for (; m + 4 <= s.rows; m += 4) multiply_rows<4>(s, end, a + m * s.a_row, b, y + m * s.y_row);
    for (; m < s.rows; ++m) multiply_rows<1>(s, end, a + m * s.a_row, b, y + m * s.y_row);
  }
#elif defined(ETCH_WORD_TILES)
  // The last columns may overlap those before them.
  for (int32_t n = 0; s.cols >= kMatrixColumns && n < s.cols; n += kMatrixColumns) {
    const int32_t at = n + kMatrixColumns > s.cols ? s.cols - kMatrixColumns : n;
    multiply_columns(s, end, a, b + at, y + at);
    m = s.rows;
  }
#endif
  const WordGuess guess = guess_of(end);
  for (; m < s.rows; ++m) {
    for (int32_t n = 0; n < s.cols; ++n)
      y[m * s.y_row + n] = word_dot(s, end, guess, a + m * s.a_row, b + n);
  }
}

}  // namespace rt
}  // namespace etch
