// Products of two matrices of 16-bit values, requantized to 16 bits with integers alone:
//   sum = the sum over k of (a - a_zero) * (b - b_zero)     below 2^52 in size, exact
//   y   = limits of rne(sum * m / 2^e) + y_zero             m: 60 bits, exact; ties to even
// With vectors b is taken as 256 * high + low, whose products with a are sums of 32 bits for 256
// values of k; zero points are taken off once per row and column. Sums are rounded by their upper
// bits unless these leave open to which side. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_intrinsics.h"
#include "etch_word_sums.h"

namespace etch {
namespace rt {

// Rows of a, b and y are so many elements apart, their elements side by side.
struct WordMatrices {
  int32_t rows, depth, cols;  // a: rows x depth; depth is at most 2^20
  ptrdiff_t a_row, b_row, y_row;
};

// word_product() of a sum of products.
template <class T>
ETCH_INLINE T word_total(const WordProduct& s, int64_t sum) {
  const uint64_t size = sum < 0 ? 0 - static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum);
  const uint64_t upper = size >> 31, lower = size & 0x7fffffff;
  const uint64_t part = lower * s.low;
  const uint64_t middle = upper * s.low + lower * s.high + (part >> 31);
  const uint64_t top = upper * s.high + (middle >> 31);  // of the product, in units of 2^62
  const uint64_t below = middle & 0x7fffffff;
  const bool is_exact = (part & 0x7fffffff) == 0;
  uint64_t whole = top * 2 + (is_exact && below == 0 ? 0 : 1);
  int32_t shift = s.shift - 31 + 1;
  if (shift < 2) {  // then y has reached its limit where `top` has as many bits
    const uint64_t most = uint64_t{2} * kBeyondWords;
    whole = (((top < most ? top : most) << 31) + below) * 2 + (is_exact ? 0 : 1);
    shift = s.shift + 1;
  }
  const uint64_t below_half = (uint64_t{1} << (shift - 1)) - 1;
  const uint64_t nearest = (whole + below_half + ((whole >> shift) & 1)) >> shift;
  const int32_t q = nearest < kBeyondWords ? static_cast<int32_t>(nearest) : kBeyondWords;
  return limited_word<T>(sum < 0 ? -q : q, s.y);
}

// One element of y, from a row of a and a column of b.
template <class T>
ETCH_INLINE T word_dot(const WordMatrices& s, const WordProduct& end, const T* a, const T* b) {
  int64_t sum = 0;
  for (int32_t k = 0; k < s.depth; ++k) {
    const int32_t left = a[k] - end.a_zero, right = b[k * s.b_row] - end.b_zero;
    sum += int64_t{left} * right;
  }
  return word_total<T>(end, sum);
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

// Unsigned words less 32768, as are the zero points then.
template <class T>
constexpr int32_t kWordFlip = T{0} < static_cast<T>(-1) ? 0x8000 : 0;

// Two neighbours of a; with `one` the second is 0.
template <class T>
ETCH_INLINE int32_t pair_at(const T* a, bool one) {
  const uint32_t first = static_cast<uint16_t>(a[0]) ^ static_cast<uint32_t>(kWordFlip<T>);
  if (one) return static_cast<int32_t>(first);
  const uint32_t second = static_cast<uint16_t>(a[1]) ^ static_cast<uint32_t>(kWordFlip<T>);
  return static_cast<int32_t>(first | second << 16);
}

// word_total() from the upper bits of sums and of the factor: y is near
//   (sum >> dropped) * high / 2^shift
// whose product is less than 2^31 away from the exact one. Where a tie is nearer than that, and for
// factors with which it always is, word_total() decides.
struct WordGuess {
  int32_t dropped, shift;
  bool is_any;
};
ETCH_INLINE WordGuess guess_of(const WordProduct& s) {
  const int32_t dropped = s.shift > 41 ? s.shift - 41 : 0;  // sums of 31 bits are at y's limit
  return {dropped, s.shift - dropped, s.shift - dropped > 34};
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
#endif
  for (; m < s.rows; ++m) {
    for (int32_t n = 0; n < s.cols; ++n)
      y[m * s.y_row + n] = word_dot(s, end, a + m * s.a_row, b + n);
  }
}

}  // namespace rt
}  // namespace etch
