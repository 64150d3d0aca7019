// A function of 16-bit values without a table of 65,536 entries: the values, in their order, are
// divided into pieces. Along a piece results are a polynomial of degree 3 of the distance from its
// last value, in 32-bit integers. The compiler has computed it for every value,
// so there are no others. Integers alone and no branch that depends on a value, so the same
// results and the same time everywhere. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_intrinsics.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

constexpr int kWordFraction = 9;    // results are in units of 2^-9 before they are rounded
constexpr int kMostWordShift = 15;  // of products with the distance

// What a function consists of. Values are in blocks of 2^bits, each with a number in `index`: the
// piece of its first value, times 2^bits, plus how many values of the block are after that piece,
// so that the sum with the place of a value in its block gives the piece of the value. A piece has
// four numbers in `cubics`: the factor of the third power, which leaves 4 bits (from bit 20 on),
// the shift (from bit 16 on) and its last value; then the other factors. Where a
// block has more than two pieces, `steps` is 1, 2 or 4 and it has no more than 1 + 2 * steps.
// Results are rounded down or, if `even` is 1, half is added and ties go to even.
template <class T>
struct WordCubics {
  int32_t bits;
  int32_t steps;
  int32_t even;
  const uint16_t* index;
  const int32_t* cubics;
};

// The blocks before that of the value 0: T is int16_t, whose first value is -32768, or uint16_t.
template <class T>
ETCH_INLINE int32_t blocks_before_zero(const WordCubics<T>& t) {
  return T{0} < static_cast<T>(-1) ? 0 : 0x8000 >> t.bits;
}

// The four numbers of the piece of x.
template <class T>
ETCH_INLINE const int32_t* piece_of(const WordCubics<T>& t, T x) {
  const uint16_t* const zero = t.index + blocks_before_zero(t);
  const uint32_t along_block = static_cast<uint32_t>(x) & ((1U << t.bits) - 1);
  const int32_t* piece = t.cubics + 4 * ((zero[x >> t.bits] + along_block) >> t.bits);
  for (int32_t step = t.steps; step > 0; step >>= 1)
    piece += ((static_cast<T>(piece[4 * (step - 1)]) - x) >> 31) & (4 * step);
  return piece;
}

template <class T>
ETCH_INLINE T table_word(const WordCubics<T>& t, T x) {
  const int32_t* const piece = piece_of(t, x);
  const int32_t along = static_cast<T>(piece[0]) - x, upper = piece[0] >> 16;
  const int32_t shift = upper & kMostWordShift;
  int32_t sum = upper & ~kMostWordShift;
  sum = piece[1] + ((sum * along) >> shift);
  sum = piece[2] + ((sum * along) >> shift);
  sum = piece[3] + ((sum * along) >> shift);
  return static_cast<T>((sum + ((sum >> kWordFraction) & t.even)) >> kWordFraction);
}

#if defined(__GNUC__) && defined(__AVX2__)
typedef int32_t TableVector __attribute__((vector_size(32)));

// The pieces of two values, in the halves of a vector.
template <class T>
ETCH_INLINE __m256i two_pieces(const WordCubics<T>& t, T x, T other) {
  const auto* const low = reinterpret_cast<const __m128i*>(piece_of(t, x));
  const auto* const high = reinterpret_cast<const __m128i*>(piece_of(t, other));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)),
                                 _mm_loadu_si128(high), 1);
}

// Eight values in 32 bits each, and back.
ETCH_INLINE TableVector words_of(__m128i x, int16_t) {
  return reinterpret_cast<TableVector>(_mm256_cvtepi16_epi32(x));
}
ETCH_INLINE TableVector words_of(__m128i x, uint16_t) {
  return reinterpret_cast<TableVector>(_mm256_cvtepu16_epi32(x));
}
ETCH_INLINE __m128i packed_words(__m256i x, int16_t) {
  return _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}
ETCH_INLINE __m128i packed_words(__m256i x, uint16_t) {
  return _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}
ETCH_INLINE TableVector lasts_of(TableVector words, int16_t) { return (words << 16) >> 16; }
ETCH_INLINE TableVector lasts_of(TableVector words, uint16_t) { return words & 0xffff; }

// As table_word() does it, for eight values. Loads of whole pieces, found one by one, take less
// time than instructions that gather.
template <class T>
ETCH_INLINE __m256i eight_words(const WordCubics<T>& t, const T* x) {
  const __m256i p = two_pieces(t, x[0], x[4]), q = two_pieces(t, x[1], x[5]);
  const __m256i r = two_pieces(t, x[2], x[6]), s = two_pieces(t, x[3], x[7]);
  const __m256i a = _mm256_unpacklo_epi32(p, q), b = _mm256_unpacklo_epi32(r, s);
  const __m256i c = _mm256_unpackhi_epi32(p, q), d = _mm256_unpackhi_epi32(r, s);
  const auto word = reinterpret_cast<TableVector>(_mm256_unpacklo_epi64(a, b));
  const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  const TableVector along = lasts_of(word, T{}) - words_of(values, T{}), upper = word >> 16;
  const TableVector shift = upper & kMostWordShift;
  TableVector sum = upper & ~kMostWordShift;
  sum = reinterpret_cast<TableVector>(_mm256_unpackhi_epi64(a, b)) + ((sum * along) >> shift);
  sum = reinterpret_cast<TableVector>(_mm256_unpacklo_epi64(c, d)) + ((sum * along) >> shift);
  sum = reinterpret_cast<TableVector>(_mm256_unpackhi_epi64(c, d)) + ((sum * along) >> shift);
  sum += (sum >> kWordFraction) & t.even;
  return reinterpret_cast<__m256i>(sum >> kWordFraction);
}

// As many as fill vectors; returns how many.
template <class T>
ETCH_INLINE ptrdiff_t table_vectors(const WordCubics<T>& t, const T* x, T* y, ptrdiff_t n) {
  const ptrdiff_t vectors = n - n % 8;
  for (ptrdiff_t i = 0; i < vectors; i += 8) {
    const __m128i results = packed_words(eight_words(t, x + i), T{});
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), results);
  }
  return vectors;
}
#elif defined(ETCH_ARM_LANES)
// Four values in 32 bits each, and back.
ETCH_INLINE int32x4_t words_of(const int16_t* x) { return vmovl_s16(vld1_s16(x)); }
ETCH_INLINE int32x4_t words_of(const uint16_t* x) {
  return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(x)));
}
ETCH_INLINE void store_words(int16_t* y, int32x4_t x) { vst1_s16(y, vmovn_s32(x)); }
ETCH_INLINE void store_words(uint16_t* y, int32x4_t x) {
  vst1_u16(y, vreinterpret_u16_s16(vmovn_s32(x)));
}
ETCH_INLINE int32x4_t lasts_of(int32x4_t words, int16_t) {
  return vshrq_n_s32(vshlq_n_s32(words, 16), 16);
}
ETCH_INLINE int32x4_t lasts_of(int32x4_t words, uint16_t) {
  return vandq_s32(words, vdupq_n_s32(0xffff));
}

// As table_word() does it, for four values: pieces are found one by one.
template <class T>
ETCH_INLINE int32x4_t four_words(const WordCubics<T>& t, const T* x) {
  const int32x4_t p = vld1q_s32(piece_of(t, x[0])), q = vld1q_s32(piece_of(t, x[1]));
  const int32x4_t r = vld1q_s32(piece_of(t, x[2])), s = vld1q_s32(piece_of(t, x[3]));
  const int32x4_t a = vtrn1q_s32(p, q), b = vtrn2q_s32(p, q);
  const int32x4_t c = vtrn1q_s32(r, s), d = vtrn2q_s32(r, s);
  const auto low = [](int32x4_t first, int32x4_t second) {
    return vreinterpretq_s32_s64(
        vtrn1q_s64(vreinterpretq_s64_s32(first), vreinterpretq_s64_s32(second)));
  };
  const auto high = [](int32x4_t first, int32x4_t second) {
    return vreinterpretq_s32_s64(
        vtrn2q_s64(vreinterpretq_s64_s32(first), vreinterpretq_s64_s32(second)));
  };
  const int32x4_t word = low(a, c);
  const int32x4_t along = vsubq_s32(lasts_of(word, T{}), words_of(x));
  const int32x4_t upper = vshrq_n_s32(word, 16), mask = vdupq_n_s32(kMostWordShift);
  const int32x4_t right = vnegq_s32(vandq_s32(upper, mask));
  int32x4_t sum = vbicq_s32(upper, mask);
  sum = vaddq_s32(low(b, d), vshlq_s32(vmulq_s32(sum, along), right));
  sum = vaddq_s32(high(a, c), vshlq_s32(vmulq_s32(sum, along), right));
  sum = vaddq_s32(high(b, d), vshlq_s32(vmulq_s32(sum, along), right));
  sum = vaddq_s32(sum, vandq_s32(vshrq_n_s32(sum, kWordFraction), vdupq_n_s32(t.even)));
  return vshrq_n_s32(sum, kWordFraction);
}

// As many as fill vectors; returns how many.
template <class T>
ETCH_INLINE ptrdiff_t table_vectors(const WordCubics<T>& t, const T* x, T* y, ptrdiff_t n) {
  const ptrdiff_t vectors = n - n % 4;
  for (ptrdiff_t i = 0; i < vectors; i += 4) store_words(y + i, four_words(t, x + i));
  return vectors;
}
#elif defined(__GNUC__) && defined(__riscv_v)
// Values in 32 bits each.
ETCH_INLINE vint32m2_t words_of(const int16_t* x, size_t n) {
  return __riscv_vsext_vf2_i32m2(__riscv_vle16_v_i16m1(x, n), n);
}
ETCH_INLINE vint32m2_t words_of(const uint16_t* x, size_t n) {
  return __riscv_vreinterpret_v_u32m2_i32m2(
      __riscv_vzext_vf2_u32m2(__riscv_vle16_v_u16m1(x, n), n));
}
ETCH_INLINE vint32m2_t lasts_of(vint32m2_t words, int16_t, size_t n) {
  return __riscv_vsra_vx_i32m2(__riscv_vsll_vx_i32m2(words, 16, n), 16, n);
}
ETCH_INLINE vint32m2_t lasts_of(vint32m2_t words, uint16_t, size_t n) {
  return __riscv_vand_vx_i32m2(words, 0xffff, n);
}

// piece_of() for `n` values, in bytes from the first piece on.
template <class T>
ETCH_INLINE vuint32m2_t pieces_of(const WordCubics<T>& t, vint32m2_t x, size_t n) {
  const auto bits = static_cast<size_t>(t.bits);
  const vint32m2_t block =
      __riscv_vadd_vx_i32m2(__riscv_vsra_vx_i32m2(x, bits, n), blocks_before_zero(t), n);
  const vuint32m2_t at = __riscv_vsll_vx_u32m2(__riscv_vreinterpret_v_i32m2_u32m2(block), 1, n);
  const vuint32m2_t along_block =
      __riscv_vand_vx_u32m2(__riscv_vreinterpret_v_i32m2_u32m2(x), (1U << t.bits) - 1, n);
  const vuint32m2_t sum =
      __riscv_vwaddu_wv_u32m2(along_block, __riscv_vluxei32_v_u16m1(t.index, at, n), n);
  vuint32m2_t piece = __riscv_vsll_vx_u32m2(__riscv_vsrl_vx_u32m2(sum, bits, n), 4, n);
  for (int32_t step = t.steps; step > 0; step >>= 1) {
    const vint32m2_t words = __riscv_vluxei32_v_i32m2(t.cubics + 4 * (step - 1), piece, n);
    const vint32m2_t sign =
        __riscv_vsra_vx_i32m2(__riscv_vsub_vv_i32m2(lasts_of(words, T{}, n), x, n), 31, n);
    piece = __riscv_vadd_vv_u32m2(
        piece, __riscv_vreinterpret_v_i32m2_u32m2(__riscv_vand_vx_i32m2(sign, 16 * step, n)), n);
  }
  return piece;
}

// part + ((sum * along) >> shift)
ETCH_INLINE vint32m2_t next_power(vint32m2_t part, vint32m2_t sum, vint32m2_t along,
                                  vuint32m2_t shift, size_t n) {
  const vint32m2_t product = __riscv_vmul_vv_i32m2(sum, along, n);
  return __riscv_vadd_vv_i32m2(part, __riscv_vsra_vv_i32m2(product, shift, n), n);
}

// table_word() of `n` values.
template <class T>
ETCH_INLINE void table_vector(const WordCubics<T>& t, const T* x, T* y, size_t n) {
  const vint32m2_t values = words_of(x, n);
  const vint32m2x4_t each = __riscv_vluxseg4ei32_v_i32m2x4(t.cubics, pieces_of(t, values, n), n);
  const vint32m2_t word = __riscv_vget_v_i32m2x4_i32m2(each, 0);
  const vint32m2_t along = __riscv_vsub_vv_i32m2(lasts_of(word, T{}, n), values, n);
  const vint32m2_t upper = __riscv_vsra_vx_i32m2(word, 16, n);
  const vuint32m2_t shift =
      __riscv_vreinterpret_v_i32m2_u32m2(__riscv_vand_vx_i32m2(upper, kMostWordShift, n));
  vint32m2_t sum = __riscv_vand_vx_i32m2(upper, ~kMostWordShift, n);
  sum = next_power(__riscv_vget_v_i32m2x4_i32m2(each, 1), sum, along, shift, n);
  sum = next_power(__riscv_vget_v_i32m2x4_i32m2(each, 2), sum, along, shift, n);
  sum = next_power(__riscv_vget_v_i32m2x4_i32m2(each, 3), sum, along, shift, n);
  const vint32m2_t tie =
      __riscv_vand_vx_i32m2(__riscv_vsra_vx_i32m2(sum, kWordFraction, n), t.even, n);
  const vint16m1_t result =
      __riscv_vnsra_wx_i16m1(__riscv_vadd_vv_i32m2(sum, tie, n), kWordFraction, n);
  __riscv_vse16_v_i16m1(reinterpret_cast<int16_t*>(y), result, n);
}

// All of them; returns how many.
template <class T>
ETCH_INLINE ptrdiff_t table_vectors(const WordCubics<T>& t, const T* x, T* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n;) {
    const size_t some = __riscv_vsetvl_e32m2(static_cast<size_t>(n - i));
    table_vector(t, x + i, y + i, some);
    i += static_cast<ptrdiff_t>(some);
  }
  return n;
}
#else
template <class T>
ETCH_INLINE ptrdiff_t table_vectors(const WordCubics<T>&, const T*, T*, ptrdiff_t) {
  return 0;
}
#endif

// y[i] = f(x[i]).
template <class T>
static inline void table_words(int32_t bits, int32_t steps, int32_t even, const uint16_t* index,
                               const int32_t* cubics, const T* x, T* y, ptrdiff_t n) {
  const WordCubics<T> table = {bits, steps, even, index, cubics};
  for (ptrdiff_t i = table_vectors(table, x, y, n); i < n; ++i) y[i] = table_word(table, x[i]);
}

}  // namespace rt
}  // namespace etch
