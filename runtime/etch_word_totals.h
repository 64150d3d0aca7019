// Sums of products of two matrices of 16-bit values, in 64 bits, requantized to 16 bits:
//   y = limits of rne(sum * m / 2^e) + y_zero             m: 60 bits, exact; ties to even
// by their upper bits unless these leave open to which side. C++17, freestanding, no heap, no
// state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_intrinsics.h"
#include "etch_word_sums.h"

namespace etch {
namespace rt {

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

// Unsigned words less 32768, as are the zero points then.
template <class T>
constexpr int32_t kWordFlip = T{0} < static_cast<T>(-1) ? 0x8000 : 0;

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

template <class T>
ETCH_INLINE T near_total(const WordProduct& s, const WordGuess& guess, int64_t sum) {
  if (!guess.is_any) return word_total<T>(s, sum);
  constexpr int64_t kMostPart = int64_t{1} << 30, kNear = int64_t{1} << 31;
  const int64_t part = sum >> guess.dropped, above = part > -kMostPart ? part : -kMostPart;
  const int32_t cut = static_cast<int32_t>(above < kMostPart ? above : kMostPart);
  const int64_t product =
      int64_t{cut} * static_cast<int32_t>(s.high) + (int64_t{1} << (guess.shift - 1));
  const uint32_t upper = static_cast<uint32_t>((product + kNear) >> 32);
  if ((upper & ((1u << (guess.shift - 32)) - 1)) == 0) return word_total<T>(s, sum);
  return limited_word<T>(static_cast<int32_t>(product >> 32) >> (guess.shift - 32), s.y);
}

#if defined(__GNUC__) && defined(__riscv_v)
// y = near_total() of `columns` sums, at most eight; where a tie is near, one by one.
template <int columns, class T>
ETCH_INLINE void near_totals(const WordProduct& s, const WordGuess& guess, const int64_t* sums,
                             T* y) {
  static_assert(columns <= 8, "");
  constexpr size_t n = columns;
  constexpr int64_t kMostPart = int64_t{1} << 30, kNear = int64_t{1} << 31;
  if (guess.is_any) {
    vint64m4_t v = __riscv_vsra_vx_i64m4(__riscv_vle64_v_i64m4(sums, n),
                                         static_cast<size_t>(guess.dropped), n);
    v = __riscv_vmin_vx_i64m4(__riscv_vmax_vx_i64m4(v, -kMostPart, n), kMostPart, n);
    v = __riscv_vmul_vx_i64m4(v, static_cast<int32_t>(s.high), n);
    v = __riscv_vadd_vx_i64m4(v, int64_t{1} << (guess.shift - 1), n);
    const vint64m4_t beside = __riscv_vand_vx_i64m4(__riscv_vadd_vx_i64m4(v, kNear, n),
                                                    (int64_t{1} << guess.shift) - 2 * kNear, n);
    if (__riscv_vcpop_m_b16(__riscv_vmseq_vx_i64m4_b16(beside, 0, n), n) == 0) {
      v = __riscv_vadd_vx_i64m4(__riscv_vsra_vx_i64m4(v, static_cast<size_t>(guess.shift), n),
                                s.y.zero, n);
      v = __riscv_vmin_vx_i64m4(__riscv_vmax_vx_i64m4(v, s.y.low, n), s.y.high, n);
      const vint16m1_t words = __riscv_vncvt_x_x_w_i16m1(__riscv_vncvt_x_x_w_i32m2(v, n), n);
      __riscv_vse16_v_i16m1(reinterpret_cast<int16_t*>(y), words, n);
      return;
    }
  }
  for (size_t c = 0; c < n; ++c) y[c] = near_total<T>(s, guess, sums[c]);
}
#else
template <int columns, class T>
ETCH_INLINE void near_totals(const WordProduct& s, const WordGuess& guess, const int64_t* sums,
                             T* y) {
  for (int32_t c = 0; c < columns; ++c) y[c] = near_total<T>(s, guess, sums[c]);
}
#endif

}  // namespace rt
}  // namespace etch
