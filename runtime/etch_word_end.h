// How sums of 16-bit activations and 8-bit weights (etch_words.h) become 16 bits, with integers
// alone:
//   y = limits of rne(sum * m / 2^e + rest) + zero    m: 60 bits, exact; ties to even
// one by one, or in vectors: without ties as many as a vector has of 32 bits, else half as many.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_intrinsics.h"
#include "etch_word_tiles.h"

namespace etch {
namespace rt {

struct WordEnd {
  int32_t flip;             // 0x8000 if x and y are unsigned
  int32_t corrected;        // 1: there is something to take off per tap
  int32_t zero, low, high;  // of y
  int32_t beyond;           // 1: weights are w - beyond, which follows the bias, per column
  int32_t part;             // channels of each part of a sum: even, or all
};

// rne(sum * (high * 2^31 + low) / 2^(31 + shift) + rest / 2^shift), 0 <= high < 2^29, 0 <= low <
// 2^31, 0 <= shift < 62, |rest| <= 2^28. What a division leaves is kept as one more bit: ties are
// those of the exact sum.
ETCH_INLINE int64_t scaled_word(int32_t sum, int32_t high, int32_t low, int32_t shift,
                                int32_t rest) {
  const int64_t part = int64_t{sum} * low;
  const int64_t sticky = (part & 0x7fffffff) != 0 ? 1 : 0;
  const int64_t whole = (int64_t{sum} * high + rest + (part >> 31)) * 2 + sticky;
  const int64_t half = int64_t{1} << shift;
  return (whole + half - 1 + ((whole >> (shift + 1)) & 1)) >> (shift + 1);
}

// scaled_word() for shifts beyond 32: all that decides is in the upper half of the sum and in
// whether anything is below it. Below 2^29, and half of the time on cores of 32 bits.
ETCH_INLINE int32_t far_word(int32_t sum, int32_t high, int32_t low, int32_t shift, int32_t rest) {
  const int64_t part = int64_t{sum} * low;
  const int64_t whole = int64_t{sum} * high + rest + (part >> 31);
  const uint32_t below = static_cast<uint32_t>(whole) | (static_cast<uint32_t>(part) << 1);
  const int32_t kept = shift - 32;
  const int32_t half_up = static_cast<int32_t>(whole >> 32) + (int32_t{1} << (kept - 1));
  const uint32_t left = static_cast<uint32_t>(half_up) & ((uint32_t{1} << kept) - 1);
  const int32_t is_tie = (left | below) == 0 ? 1 : 0;
  return (half_up >> kept) & ~is_tie;
}

// Which sums a function is for.
enum class WordForm {
  kPlain,  // one part, of weights that are their bytes; no ties, shifts beyond 32
  kTies,   // the same, with ties or smaller shifts
  kParts,  // all others
};

// floor((sum * (high * 2^32 + low) / 2^32 + offset) / 2^(32 + kept)), |offset| < 2^61: without ties
// the nearest integer if the offset has half a unit.
ETCH_INLINE int32_t untied_word(int32_t sum, int32_t high, int32_t low, int32_t kept,
                                int32_t offset_low, int32_t offset_high) {
  const int64_t offset = static_cast<int64_t>(static_cast<uint64_t>(offset_high) << 32 |
                                              static_cast<uint32_t>(offset_low));
  const int64_t whole = offset + int64_t{sum} * high + ((int64_t{sum} * low) >> 32);
  return static_cast<int32_t>(whole >> 32) >> kept;
}

template <class T, class Integer>
ETCH_INLINE T limited_word(Integer q, const WordEnd& end) {
  const Integer above = q + end.zero > end.low ? q + end.zero : end.low;
  return static_cast<T>(above < end.high ? above : end.high);
}

// One column's sum requantized; `scale` as in WordRow.
template <class T>
ETCH_INLINE T finished_word(int32_t sum, const WordEnd& end, const int32_t* scale,
                            ptrdiff_t columns) {
  const int32_t high = scale[0], low = scale[columns];
  const int32_t shift = scale[2 * columns], rest = scale[3 * columns];
  if (shift > 32) return limited_word<T>(far_word(sum, high, low, shift, rest), end);
  return limited_word<T>(scaled_word(sum, high, low, shift, rest), end);
}

// The arguments of untied_word() for one column.
struct UntiedFactor {
  int32_t high, low, kept, offset_low, offset_high;
};

// The same without ties, of `pixels` pixels that are `step` sums apart.
template <int pixels, class T>
ETCH_INLINE void finish_untied_column(const int32_t* sums, int32_t step, const WordEnd& end,
                                      const UntiedFactor& f, T* y, ptrdiff_t y_pixel) {
  *y = limited_word<T>(untied_word(*sums, f.high, f.low, f.kept, f.offset_low, f.offset_high), end);
  if constexpr (pixels > 1)
    finish_untied_column<pixels - 1>(sums + step, step, end, f, y + y_pixel, y_pixel);
}

// Sums in 64 bits, half as many as a vector has.
#if defined(__GNUC__) && defined(__SSE4_1__)
#define ETCH_WIDE_WORDS 1
constexpr int kWideLanes = kWordLanes / 2;
typedef int64_t WideVector __attribute__((vector_size(8 * kWideLanes)));
typedef int32_t NarrowVector __attribute__((vector_size(4 * kWideLanes)));

ETCH_INLINE WideVector load_wide(const int32_t* p) {
  NarrowVector v;
  ETCH_MEMCPY(&v, p, sizeof v);
  return __builtin_convertvector(v, WideVector);
}

// Products of the low halves of each lane.
ETCH_INLINE WideVector wide_product(WideVector a, WideVector b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<WideVector>(
      _mm512_maskz_mul_epi32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<WideVector>(
      _mm256_mul_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return reinterpret_cast<WideVector>(
      _mm_mul_epi32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#endif
}

// The same of unsigned halves, for results below 2^63.
typedef uint64_t UnsignedWide __attribute__((vector_size(8 * kWideLanes)));
ETCH_INLINE WideVector wide_unsigned_product(WideVector a, WideVector b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<WideVector>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<WideVector>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return reinterpret_cast<WideVector>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#endif
}

// limited_word() of what `rounded` makes of neighbouring columns of `pixels` rows of `count` sums.
template <class T, class Rounded>
ETCH_INLINE void finish_lanes(const int32_t* sums, int32_t pixels, int32_t count,
                              const WordEnd& end, T* y, ptrdiff_t y_pixel, Rounded rounded) {
  typedef T Result __attribute__((vector_size(sizeof(T) * kWideLanes)));
  const WideVector least = WideVector{} + end.low, most = WideVector{} + end.high;
  for (int32_t p = 0; p < pixels; ++p, sums += count, y += y_pixel) {
    const WideVector q = rounded(load_wide(sums)) + end.zero;
    const WideVector above = q > least ? q : least;
    const Result result = __builtin_convertvector(above < most ? above : most, Result);
    ETCH_MEMCPY(y, &result, sizeof result);
  }
}

// Sums in 32 bits, as many as a vector has, and the same as pairs of which products take one half.
typedef int32_t SumVector __attribute__((vector_size(4 * kWordLanes)));
typedef uint64_t PairVector __attribute__((vector_size(4 * kWordLanes)));

// Factors for the low halves of pairs. Vectors have no signed shift of 64 bits, so that 2^62 is
// added to products with `low`; the offset is less what that adds.
struct UntiedHalf {
  WideVector high, low;
  PairVector offset;
};
constexpr int64_t kAddedByPart = int64_t{1} << 30;

// What both halves of pairs are multiplied by; `part` is 2^62 and what else is below the unit of
// offsets.
struct UntiedFactors {
  UntiedHalf even, odd;
  PairVector part;
};

// In the upper halves.
ETCH_INLINE PairVector untied_half(const UntiedHalf& f, PairVector part, PairVector sums) {
  const auto wide = reinterpret_cast<WideVector>(sums);
  const PairVector low = reinterpret_cast<PairVector>(wide_product(wide, f.low)) + part;
  return reinterpret_cast<PairVector>(wide_product(wide, f.high)) + f.offset + (low >> 32);
}

// untied_word() of a vector, less the last shift.
ETCH_INLINE SumVector untied_words(const UntiedFactors& f, PairVector sums) {
  const PairVector even = untied_half(f.even, f.part, sums) >> 32;
  const PairVector odd = (untied_half(f.odd, f.part, sums >> 32) >> 32) << 32;
  return reinterpret_cast<SumVector>(even | odd);
}

template <class T>
ETCH_INLINE void store_limited(SumVector q, SumVector least, SumVector most, T* y) {
  typedef T Result __attribute__((vector_size(sizeof(T) * kWordLanes)));
  const SumVector above = q > least ? q : least;
  const Result result = __builtin_convertvector(above < most ? above : most, Result);
  ETCH_MEMCPY(y, &result, sizeof result);
}

// With untied_word(), as many columns as a vector has.
template <class T>
static inline void finish_untied(const int32_t* sums, int32_t pixels, int32_t count,
                                 const WordEnd& end, const int32_t* scale, ptrdiff_t columns, T* y,
                                 ptrdiff_t y_pixel) {
  PairVector factor[5];  // as UntiedFactor
  for (int i = 0; i < 5; ++i) ETCH_MEMCPY(&factor[i], scale + i * columns, sizeof(PairVector));
  const PairVector zeros = {}, moved = zeros + static_cast<uint64_t>(kAddedByPart);
  const PairVector even = (factor[4] << 32) | (factor[3] & 0xffffffff);
  const PairVector odd = ((factor[4] >> 32) << 32) | (factor[3] >> 32);
  const UntiedFactors factors = {{reinterpret_cast<WideVector>(factor[0]),
                                  reinterpret_cast<WideVector>(factor[1]), even - moved},
                                 {reinterpret_cast<WideVector>(factor[0] >> 32),
                                  reinterpret_cast<WideVector>(factor[1] >> 32), odd - moved},
                                 zeros + (uint64_t{1} << 62)};
  const SumVector kept = reinterpret_cast<SumVector>(factor[2]), none = {};
  const SumVector least = none + end.low, most = none + end.high;
  for (int32_t p = 0; p < pixels; ++p, sums += count, y += y_pixel) {
    PairVector pairs;
    ETCH_MEMCPY(&pairs, sums, sizeof pairs);
    const SumVector upper = untied_words(factors, pairs);
    store_limited((upper >> kept) + end.zero, least, most, y);
  }
}

// With scaled_word().
template <class T>
static inline void finish_wide(const int32_t* sums, int32_t pixels, int32_t count,
                               const WordEnd& end, const int32_t* scale, ptrdiff_t columns, T* y,
                               ptrdiff_t y_pixel) {
  const WideVector high = load_wide(scale), low = load_wide(scale + columns);
  const WideVector shift = load_wide(scale + 2 * columns) + 1;
  const WideVector rest = load_wide(scale + 3 * columns);
  const WideVector below_half = ((WideVector{} + 1) << (shift - 1)) - 1;
  finish_lanes(sums, pixels, count, end, y, y_pixel, [&](const WideVector& sum) {
    const WideVector part = wide_product(sum, low);
    const WideVector sticky = (part & 0x7fffffff) != 0;  // -1: there is a rest
    const WideVector whole = (wide_product(sum, high) + rest + (part >> 31)) * 2 - sticky;
    return (whole + below_half + ((whole >> shift) & 1)) >> shift;
  });
}
#endif

}  // namespace rt
}  // namespace etch
