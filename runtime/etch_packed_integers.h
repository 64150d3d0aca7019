// Products of rows that are quantized in blocks and weights that stay integers of 2, 4 or 8 bits in
// memory, with a scale and a zero point for every column of each block of the depth: four products
// of bytes at a time.
//
//   y = (0 + t0) + t1 ... + bias,  t = fl(d * fl(row's scale * weights' scale)),
//   d = the sum of a * (q - zero) in the block, at most 256 values: |d| < 2^23
//
// Packed weights: panels of `lanes` columns, the last filled up with zeros; in a panel blocks; in a
// block words of 32 bits, one per column side by side. Byte j of a word has the values k + j,
// k + 4 + j, ... of the depth, the first in the low bits, and the next word begins with the value
// after them. Values after the end of a block are 0 in rows and weights. Scales and zero points:
// per panel a row of its columns for each block.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_lanes.h"
#include "etch_float_lanes.h"
#include "etch_helium.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

struct PackedIntegers {
  int32_t rows, depth, cols;
  int32_t block;      // values of the depth with one scale, at most 256
  int32_t zero_step;  // 1; 0 where one zero point serves all
  int32_t bias_step;  // the same of the bias
};

// Values of the depth in one word of each column.
static constexpr int32_t values_of_word(int32_t bits) { return 4 * (8 / bits); }

// Words of a block of n values.
static constexpr int32_t words_of_block(int32_t n, int32_t bits) {
  return (n - 1) / values_of_word(bits) + 1;
}

// Words of the whole depth.
static constexpr int32_t words_of_depth(int32_t depth, int32_t block, int32_t bits) {
  return (depth - 1) / block * words_of_block(block, bits) +
         words_of_block((depth - 1) % block + 1, bits);
}

// ---- quantization of rows ----

// The largest magnitude of n elements; NaN does not count.
static inline float largest_magnitude(const float* x, int32_t n) {
  Floats<kFloatLanes> most = all_lanes<kFloatLanes>(0.0f);
  int32_t i = 0;
  for (; i + kFloatLanes <= n; i += kFloatLanes)
    most = larger(magnitudes(load<kFloatLanes>(x + i)), most);
  float each[static_cast<size_t>(kFloatLanes)];
  store(each, most);
  float largest = 0.0f;
  for (const float v : each) largest = v > largest ? v : largest;
  for (; i < n; ++i) largest = larger(magnitudes(Floats<1>{x[i]}), Floats<1>{largest}).v;
  return largest;
}

// The nearest integer, ties to even; |x| < 2^22.
template <int lanes>
ETCH_INLINE Floats<lanes> nearest(const Floats<lanes>& x) {
  const Floats<lanes> shift = all_lanes<lanes>(12582912.0f);  // 3 * 2^22: the last bit counts ones
  return difference(sum(x, shift), shift);
}

// n values times the factor, to the nearest integer in [-127, 127], which NaN makes -127; returns
// their sum.
static inline int32_t quantize_values(const float* x, float factor, int32_t n, int8_t* q) {
  int32_t total = 0;
  const auto chunk = [&](ptrdiff_t i, auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    const Floats<kLanes> v = product(load<kLanes>(x + i), all_lanes<kLanes>(factor));
    const Floats<kLanes> above = larger(v, all_lanes<kLanes>(-127.0f));
    const Ints<kLanes> value = to_ints(nearest(smaller(above, all_lanes<kLanes>(127.0f))));
    store_low_bytes(reinterpret_cast<uint8_t*>(q + i), value);
  };
  for (ptrdiff_t i = for_vectors<kFloatLanes>(0, n, chunk); i < n; ++i) chunk(i, Width<1>{});
  for (int32_t i = 0; i < n; ++i) total += q[i];
  return total;
}

// Each block of each row: scale = fl(largest / 127), q = rne(fl(x * fl(127 / largest))), all 0
// where the block is; a block takes words of `word` values in q, whose rest is 0.
static inline void quantize_blocks(int32_t rows, int32_t depth, int32_t block, int32_t word,
                                   const float* x, int8_t* q, int32_t* sums, float* scales) {
  for (int32_t row = 0; row < rows; ++row) {
    for (int32_t k = 0; k < depth; k += block) {
      const int32_t n = depth - k < block ? depth - k : block;
      const float largest = largest_magnitude(x, n);
      *scales++ = largest / 127.0f;
      *sums++ = quantize_values(x, largest > 0.0f ? 127.0f / largest : 0.0f, n, q);
      x += n;
      q += n;
      for (int32_t i = n; i % word != 0; ++i) *q++ = 0;
    }
  }
}

// ---- four products of bytes ----

// Whether add_dot() of so many lanes takes weights of 8 bits: instructions that sum two products in
// 16 bits do not.
static constexpr bool takes_whole_bytes(int lanes) {
#if defined(__AVX512VNNI__)
  if (lanes == 16) return true;
#endif
#if defined(__AVXVNNI__)
  if (lanes == 8) return true;
#endif
  return lanes == 1;
}

#if defined(__GNUC__) && defined(__ARM_FEATURE_SIMD32) && !defined(__ARM_NEON) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ETCH_PAIRS_OF_PRODUCTS 1
// By two products of 16 bits at a time.
ETCH_INLINE int32_t add_four(int32_t sum, uint32_t w, const int8_t* a) {
  int32_t four, even, odd;
  ETCH_MEMCPY(&four, a, sizeof four);
  __asm__("sxtb16 %0, %1" : "=r"(even) : "r"(four));
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(odd) : "r"(four));
  return __smlad(odd, static_cast<int32_t>((w >> 8) & 0xff00ffu),
                 __smlad(even, static_cast<int32_t>(w & 0xff00ffu), sum));
}
#else
ETCH_INLINE int32_t add_four(int32_t sum, uint32_t w, const int8_t* a) {
  return sum + static_cast<int32_t>(w & 255u) * a[0] +
         static_cast<int32_t>((w >> 8) & 255u) * a[1] +
         static_cast<int32_t>((w >> 16) & 255u) * a[2] + static_cast<int32_t>(w >> 24) * a[3];
}
#endif

// sum + the products of the four bytes of w, unsigned, and a, signed.
template <int lanes>
ETCH_INLINE Ints<lanes> add_dot(const Ints<lanes>& sums, const Ints<lanes>& w, const int8_t* a) {
  if constexpr (lanes == 1) {
    return {add_four(sums.v, static_cast<uint32_t>(w.v), a)};
  } else {
#if defined(__GNUC__)
    int32_t four;
    ETCH_MEMCPY(&four, a, sizeof four);
#if defined(__AVX512F__) && defined(__AVX512VNNI__)
    if constexpr (lanes == 16) {
      return {reinterpret_cast<typename Ints<lanes>::Vector>(
          _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums.v), reinterpret_cast<__m512i>(w.v),
                              _mm512_set1_epi32(four)))};
    }
#endif
#if defined(__AVXVNNI__)
    if constexpr (lanes == 8) {
      return {reinterpret_cast<typename Ints<lanes>::Vector>(
          _mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sums.v), reinterpret_cast<__m256i>(w.v),
                                  _mm256_set1_epi32(four)))};
    }
#elif defined(__AVX2__)
    if constexpr (lanes == 8) {
      const __m256i pairs =
          _mm256_maddubs_epi16(reinterpret_cast<__m256i>(w.v), _mm256_set1_epi32(four));
      const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
      return {sums.v + reinterpret_cast<typename Ints<lanes>::Vector>(fours)};
    }
#endif
#if defined(__SSE4_1__)
    if constexpr (lanes == 4) {
      const __m128i pairs = _mm_maddubs_epi16(reinterpret_cast<__m128i>(w.v), _mm_set1_epi32(four));
      const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi16(1));
      return {sums.v + reinterpret_cast<typename Ints<lanes>::Vector>(fours)};
    }
#elif defined(__ARM_NEON)
    if constexpr (lanes == 4) {
      const int8x16_t bytes = vreinterpretq_s8_s32(w.v);
      const int8x16_t factor = vreinterpretq_s8_s32(vdupq_n_s32(four));
#if defined(__ARM_FEATURE_DOTPROD)
      return {vdotq_s32(sums.v, bytes, factor)};
#else
      const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(bytes), vget_low_s8(factor)));
      const int32x4_t high = vpaddlq_s16(vmull_s8(vget_high_s8(bytes), vget_high_s8(factor)));
      const int32x2_t first = vpadd_s32(vget_low_s32(low), vget_high_s32(low));
      const int32x2_t second = vpadd_s32(vget_low_s32(high), vget_high_s32(high));
      return {sums.v + vcombine_s32(first, second)};
#endif
    }
#endif
    Ints<lanes> out = sums;
    for (int i = 0; i < lanes; ++i) out.v[i] = add_dot(Ints<1>{out.v[i]}, Ints<1>{w.v[i]}, a).v;
    return out;
#endif
  }
}

// Four bytes in each lane, the first in the low bits. gcc 12 copies 32 bytes in two halves, which a
// load of all of them then waits for.
template <int lanes>
ETCH_INLINE Ints<lanes> load_words(const uint8_t* p) {
  Ints<lanes> out;
  if constexpr (lanes == 1) {
    const uint32_t bytes = p[0] | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
    out.v = static_cast<int32_t>(bytes);
    return out;
  }
#if defined(__GNUC__) && defined(__AVX2__)
  if constexpr (lanes == 8) {
    const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return {reinterpret_cast<typename Ints<lanes>::Vector>(words)};
  }
#endif
  if constexpr (lanes > 1) ETCH_MEMCPY(&out, p, sizeof out);
  return out;
}

// Lanes in which the words of `columns` neighbouring columns are multiplied.
static constexpr int lanes_of_words(int columns) {
#if defined(__AVX512F__) && !defined(__AVX512VNNI__)
  return 1;
#elif defined(__SSE4_1__) || (defined(__ARM_NEON) && defined(ETCH_FOUR_FLOATS))
  return columns <= kFloatLanes ? columns : 1;
#else
  return columns > 1 ? 1 : columns;
#endif
}

// ---- tiles ----

// Rows of a tile; without vectors only those share the weights that instructions take apart.
#if defined(ETCH_PAIRS_OF_PRODUCTS)
constexpr int kIntegerRows = 4;
constexpr bool kTwoSums = false;  // no sum has to wait, and registers are few
#else
constexpr int kIntegerRows = kFloatLanes == 1 ? 1 : (kFloatLanes == 16 ? 4 : 2);
constexpr bool kTwoSums = true;
#endif

// Sums of a block of `count` rows, in two parts that do not wait for each other.
template <int lanes, int count>
struct BlockSums {
  Ints<lanes> even, odd;
  BlockSums<lanes, count - 1> rest;
};
template <int lanes>
struct BlockSums<lanes, 1> {
  Ints<lanes> even, odd;
};

// Where the rows of a tile begin in a block: `row` bytes, `blocks` sums and scales to the next.
struct BlockRows {
  const int8_t* a;
  const int32_t* sums;
  const float* scales;
  ptrdiff_t row;
  int32_t blocks;
};

template <int lanes, int count>
ETCH_INLINE void start_sums(BlockSums<lanes, count>& sums, const Ints<lanes>& zero,
                            const int32_t* of_a, int32_t blocks) {
  sums.even = Ints<lanes>{zero.v * -*of_a};
  sums.odd = Ints<lanes>{};
  if constexpr (count > 1) start_sums(sums.rest, zero, of_a + blocks, blocks);
}

template <bool odd, int lanes, int count>
ETCH_INLINE void add_dots(BlockSums<lanes, count>& sums, const Ints<lanes>& w, const int8_t* a,
                          ptrdiff_t row) {
  if constexpr (odd && kTwoSums) {
    sums.odd = add_dot(sums.odd, w, a);
  } else {
    sums.even = add_dot(sums.even, w, a);
  }
  if constexpr (count > 1) add_dots<odd>(sums.rest, w, a + row, row);
}

// Part `i` of a word and those after it.
template <int bits, int i, int lanes, int count>
ETCH_INLINE void add_word(BlockSums<lanes, count>& sums, const Ints<lanes>& w, const int8_t* a,
                          ptrdiff_t row) {
  constexpr int32_t kMask = ((1 << bits) - 1) * 0x01010101;
  add_dots<i % 2 != 0>(sums, Ints<lanes>{(w.v >> (i * bits)) & kMask}, a, row);
  if constexpr ((i + 1) * bits < 8) add_word<bits, i + 1>(sums, w, a + 4, row);
}

#if defined(__ARM_FEATURE_DOTPROD) && defined(__aarch64__)
// Part `i` of four neighbouring bytes of K: each word of `bits` has several.
template <int bits, int i>
ETCH_INLINE int8x16_t part_of_words(const uint8x16_t* w) {
  constexpr int kParts = 8 / bits, kShift = i % kParts * bits;
  uint8x16_t out = w[i / kParts];
  if constexpr (kShift != 0) out = vshrq_n_u8(out, kShift);
  if constexpr (kShift + bits < 8) out = vandq_u8(out, vdupq_n_u8((1 << bits) - 1));
  return vreinterpretq_s8_u8(out);
}

// Four parts, each with its four of the 16 bytes of x.
template <int count>
ETCH_INLINE void add_products(BlockSums<4, count>& sums, const int8x16_t (&part)[4], int8x16_t x) {
  sums.even.v = vdotq_laneq_s32(sums.even.v, part[0], x, 0);
  sums.odd.v = vdotq_laneq_s32(sums.odd.v, part[1], x, 1);
  sums.even.v = vdotq_laneq_s32(sums.even.v, part[2], x, 2);
  sums.odd.v = vdotq_laneq_s32(sums.odd.v, part[3], x, 3);
}

// The words that `bytes` of each row, 16 or 32, are multiplied by.
template <int bits, size_t bytes, int count>
ETCH_INLINE void add_rows(BlockSums<4, count>& sums, const int8x16_t (&parts)[bytes / 16][4],
                          const int8_t* a, ptrdiff_t row) {
  const int8x16_t first = vld1q_s8(a);
  const int8x16_t last = vld1q_s8(a + bytes - 16);  // at once with the first, where it is another
  add_products(sums, parts[0], first);
  if constexpr (bytes == 32) add_products(sums, parts[1], last);
  if constexpr (count > 1) add_rows<bits, bytes>(sums.rest, parts, a + row, row);
}

// The parts of the words for 16 bytes of a row.
template <int bits>
ETCH_INLINE void take_apart(int8x16_t (&parts)[4], const uint8_t* w, ptrdiff_t step) {
  uint8x16_t words[static_cast<size_t>(bits / 2)];
  for (int i = 0; i < bits / 2; ++i) words[i] = vld1q_u8(w + i * step);
  parts[0] = part_of_words<bits, 0>(words);
  parts[1] = part_of_words<bits, 1>(words);
  parts[2] = part_of_words<bits, 2>(words);
  parts[3] = part_of_words<bits, 3>(words);
}
#endif

#if defined(ETCH_HELIUM)
// 32 values of each row and the weights of the even and the odd four of them. Rows start at
// multiples of 4 bytes. In assembly, because gcc 12 gives VLD2 addresses that it does not take.
template <int count>
ETCH_INLINE void add_fours(BlockSums<1, count>& sums, int8x16_t even, int8x16_t odd,
                           const int8_t* a, ptrdiff_t row) {
  __asm__(
      "vld20.32 {q2, q3}, [%3]\n\tvld21.32 {q2, q3}, [%3]\n\t"
      "vmladava.s8 %0, %q1, q2\n\tvmladava.s8 %0, %q2, q3"
      : "+Te"(sums.even.v)
      : "w"(even), "w"(odd), "r"(a),
        "m"(*static_cast<const int8_t(*)[32]>(static_cast<const void*>(a)))
      : "q2", "q3");
  if constexpr (count > 1) add_fours(sums.rest, even, odd, a + row, row);
}
#endif

// The beginning of a block whose weights end at `end`, by instructions that take four of 16 bytes
// of a row, or 16; w and a come to what is left.
template <int bits, int lanes, int count>
ETCH_INLINE void add_sixteens(BlockSums<lanes, count>& sums, const uint8_t*& w, const uint8_t* end,
                              ptrdiff_t step, const int8_t*& a, ptrdiff_t row) {
#if defined(__ARM_FEATURE_DOTPROD) && defined(__aarch64__)
  if constexpr (lanes == 4 && bits < 8) {
    const size_t words = bits / 2 * static_cast<size_t>(step);  // of 16 bytes
    int8x16_t parts[2][4];
    const uint8_t* const last = end - static_cast<size_t>(end - w) % (2 * words);
    for (; w != last; w += 2 * words, a += 32) {
      take_apart<bits>(parts[0], w, step);
      take_apart<bits>(parts[1], w + words, step);
      add_rows<bits, 32>(sums, parts, a, row);
    }
    if (static_cast<size_t>(end - w) < words) return;
    int8x16_t rest[1][4];
    take_apart<bits>(rest[0], w, step);
    add_rows<bits, 16>(sums, rest, a, row);
    w += words;
    a += 16;
  }
#elif defined(ETCH_HELIUM)
  if constexpr (lanes == 1 && bits == 4) {
    if (step != 4) return;
    for (; end - w >= 16; w += 16, a += 32) {
      const uint8x16_t words = vld1q_u8(w);
      const uint8x16_t even = vandq_u8(words, vdupq_n_u8(15));
      add_fours(sums, vreinterpretq_s8_u8(even), vreinterpretq_s8_u8(vshrq_n_u8(words, 4)), a, row);
    }
  }
#else
  static_cast<void>(sums), static_cast<void>(w), static_cast<void>(end);
  static_cast<void>(step), static_cast<void>(a), static_cast<void>(row);
#endif
}

// A word of 8-bit weights, whose halves `odd` and `even` sum where instructions take no more.
template <int lanes, int count>
ETCH_INLINE void add_bytes(BlockSums<lanes, count>& sums, const Ints<lanes>& w, const int8_t* a,
                           ptrdiff_t row) {
  if constexpr (takes_whole_bytes(lanes)) {
    add_dots<false>(sums, w, a, row);
  } else {
    add_dots<false>(sums, Ints<lanes>{w.v & 0x0f0f0f0f}, a, row);
    add_dots<true>(sums, Ints<lanes>{(w.v >> 4) & 0x0f0f0f0f}, a, row);
  }
}

template <int bits, int lanes, int count>
ETCH_INLINE void scale_sums(Columns<lanes, count>& totals, const BlockSums<lanes, count>& sums,
                            const Floats<lanes>& scale, const float* of_a, int32_t blocks) {
  const Ints<lanes> all{sums.even.v + (bits == 8 ? sums.odd.v << 4 : sums.odd.v)};
  const Floats<lanes> factor = product(all_lanes<lanes>(*of_a), scale);
  totals.first = sum(totals.first, product(to_floats(all), factor));
  if constexpr (count > 1) scale_sums<bits>(totals.rest, sums.rest, scale, of_a + blocks, blocks);
}

template <int lanes, int count>
ETCH_INLINE void finish_rows_of(const Columns<lanes, count>& totals, const Floats<lanes>& bias,
                                float* y, ptrdiff_t y_row, int32_t n) {
  const Floats<lanes> result = sum(totals.first, bias);
  if (n >= lanes) {
    store(y, result);
  } else {
    store_some(y, result, n);
  }
  if constexpr (count > 1) finish_rows_of(totals.rest, bias, y + y_row, y_row, n);
}

// `lanes` columns of a panel of `columns` for `count` rows; n of them are stored.
template <int bits, int columns, int lanes, int count>
static inline void integer_tile(const PackedIntegers& s, BlockRows rows, const uint8_t* w,
                                const float* scales, const uint8_t* zeros, const float* bias,
                                float* y, int32_t n) {
  Columns<lanes, count> totals;
  clear(totals);
  const int32_t whole = words_of_block(s.block, bits);
  for (int32_t left = s.depth; left > 0; left -= s.block) {
    const int32_t words = left >= s.block ? whole : words_of_block(left, bits);
    const Ints<lanes> zero = s.zero_step == 0 ? Ints<lanes>{Ints<lanes>{}.v + int32_t{*zeros}}
                                              : load_bytes<lanes>(zeros);
    BlockSums<lanes, count> sums;
    start_sums(sums, zero, rows.sums, rows.blocks);
    const uint8_t* const end = w + static_cast<ptrdiff_t>(4) * columns * words;
    add_sixteens<bits>(sums, w, end, 4 * columns, rows.a, rows.row);
    for (; w != end; w += 4 * columns, rows.a += values_of_word(bits)) {
      const Ints<lanes> word = load_words<lanes>(w);
      if constexpr (bits == 8) {
        add_bytes(sums, word, rows.a, rows.row);
      } else {
        add_word<bits, 0>(sums, word, rows.a, rows.row);
      }
    }
    scale_sums<bits>(totals, sums, load<lanes>(scales), rows.scales, rows.blocks);
    ++rows.sums;
    ++rows.scales;
    scales += columns;
    zeros += columns * s.zero_step;
  }
  Floats<lanes> added = all_lanes<lanes>(*bias);
  if (s.bias_step != 0) added = n < lanes ? load_some<lanes>(bias, 1, n) : load<lanes>(bias);
  finish_rows_of(totals, added, y, s.cols, n);
}

// a: the rows as quantize_blocks() leaves them, with `a_sums` and `a_scales`; y is dense.
template <int bits, int columns>
static inline void packed_integers(const PackedIntegers& s, const int8_t* a, const int32_t* a_sums,
                                   const float* a_scales, const uint8_t* w, const float* scales,
                                   const uint8_t* zeros, const float* bias, float* y) {
  constexpr int kLanes = lanes_of_words(columns);
  constexpr int kRows = kIntegerRows;
  const int32_t blocks = (s.depth - 1) / s.block + 1;
  const ptrdiff_t words = words_of_depth(s.depth, s.block, bits);
  const BlockRows first{a, a_sums, a_scales, words * values_of_word(bits), blocks};
  for (int32_t panel = 0; panel < s.cols; panel += columns) {
    for (int32_t j = 0; j < columns && panel + j < s.cols; j += kLanes) {
      const int32_t at = panel + j, n = s.cols - at < kLanes ? s.cols - at : kLanes;
      const float* const scale = scales + static_cast<ptrdiff_t>(panel) * blocks + j;
      const uint8_t* const zero =
          zeros + (static_cast<ptrdiff_t>(panel) * blocks + j) * s.zero_step;
      const uint8_t* const word = w + 4 * (panel * words + j);
      const float* const added = bias + at * s.bias_step;
      BlockRows rows = first;
      float* to = y + at;
      const auto tile = [&](auto count) {
        constexpr int kCount = decltype(count)::value;
        integer_tile<bits, columns, kLanes, kCount>(s, rows, word, scale, zero, added, to, n);
        rows.a += kCount * rows.row;
        rows.sums += kCount * blocks;
        rows.scales += kCount * blocks;
        to += static_cast<ptrdiff_t>(kCount) * s.cols;
      };
      int32_t row = 0;
      for (; row + kRows <= s.rows; row += kRows) tile(Width<kRows>{});
      for (; row < s.rows; ++row) tile(Width<1>{});
    }
  }
}

}  // namespace rt
}  // namespace etch
