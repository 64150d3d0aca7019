// QLinearSoftmax: rows of bytes through a table of 256 exponentials. C++17, freestanding, no heap,
// no state, the same bytes everywhere. Arithmetic: docs/spec/qlinear.md.
//
// A row has at most 256 different results. Where floats have vectors, those of a longer row are
// computed once, from the greatest down until they are zero, and looked up; and four rows are
// summed side by side, because each sum has to wait for the one before it.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_byte_lanes.h"
#include "etch_float.h"
#include "etch_lookup.h"

namespace etch {
namespace rt {

// rne(e * y_inverse / sum) of the exact quotient, or 600 where that is more; 0 <= e <= sum, sum >=
// 1, y_inverse finite. e / sum <= 1, so no step overflows. The quotient in float is off by less
// than 600 * 2^-22: it decides unless a tie is near, where the exact products are compared in
// double.
static inline int32_t softmax_share(float e, float sum, float y_inverse) {
  const float quotient = opaque(e / sum) * y_inverse;
  if (quotient >= 600.0F) return 600;
  const int32_t below = static_cast<int32_t>(quotient);
  const float rest = quotient - static_cast<float>(below);
  if (rest < 0.499F) return below;
  if (rest > 0.501F) return below + 1;
  const double twice = 2.0 * static_cast<double>(e) * static_cast<double>(y_inverse);
  const double tie = static_cast<double>(2 * below + 1) * static_cast<double>(sum);
  const bool up = below % 2 == 0 ? twice > tie : twice >= tie;
  return up ? below + 1 : below;
}

// What all rows have in common: saturation to the logical type, kept with `stored` added.
struct ByteSoftmax {
  float y_inverse;
  int32_t zero_point, stored;
};

// One result as stored: `quotient` plus zero point, saturated to the logical type.
static inline uint8_t share_as_byte(int32_t quotient, int32_t y_zero_point, int32_t stored) {
  const int32_t most = 255 - stored;
  const int32_t q = quotient + y_zero_point;
  return static_cast<uint8_t>((q < most ? q : most) + stored);
}

// The greatest of n > 0 bytes.
static inline int32_t largest_byte(const uint8_t* x, int n) {
  int32_t top = 0;
  int i = 0;
#if defined(__GNUC__) && defined(__SSE2__)
  if (n >= 16) {
    const auto at = [x](int k) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + k)); };
    __m128i most = at(n - 16);  // the last vector takes some bytes twice
    for (; i < n - 16; i += 16) most = _mm_max_epu8(most, at(i));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 8));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 4));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 2));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 1));
    return _mm_cvtsi128_si32(most) & 255;
  }
#endif
  for (; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

// The row's exponentials by its bytes: the greatest one meets entry 255.
ETCH_INLINE const float* softmax_entries(const uint8_t* x, const float* table, int n) {
  return table + (255 - largest_byte(x, n));
}

static inline float softmax_sum(const uint8_t* x, const float* entries, int n) {
  float sum = 0.0F;
  for (int i = 0; i < n; ++i) sum += entries[x[i]];
  return sum;
}

// The sums of four rows, each in order.
static inline void softmax_sums(const uint8_t* x, const float* const (&entries)[4], int n,
                                float (&sums)[4]) {
  const uint8_t* const x1 = x + n;
  const uint8_t* const x2 = x1 + n;
  const uint8_t* const x3 = x2 + n;
  float a = 0.0F, b = 0.0F, c = 0.0F, d = 0.0F;
  for (int i = 0; i < n; ++i) {
    a += entries[0][x[i]];
    b += entries[1][x1[i]];
    c += entries[2][x2[i]];
    d += entries[3][x3[i]];
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
}

// softmax_share() of `lanes` exponentials, where sum < 2^124: `factor` = y_inverse / sum is 0 or
// no subnormal number, and its product off by less than softmax_share's, which decides near
// ties.
template <int lanes>
ETCH_INLINE Ints<lanes> softmax_shares(const float* e, float sum, float y_inverse,
                                       const Floats<lanes>& factor) {
  const Floats<lanes> half = all_lanes<lanes>(0.5F);
  const Floats<lanes> quotient = smaller(product(load<lanes>(e), factor), all_lanes<lanes>(600.0F));
  const Ints<lanes> below = to_ints(quotient);
  const Floats<lanes> rest = difference(quotient, to_floats(below));
  const auto near = magnitudes(difference(rest, half)).v < all_lanes<lanes>(0.001F).v;
  uint64_t pairs[static_cast<size_t>(lanes) / 2];
  ETCH_MEMCPY(pairs, &near, sizeof pairs);
  uint64_t any = 0;
  for (const uint64_t each : pairs) any |= each;
  Ints<lanes> rounded = {below.v - (rest.v > half.v)};
  if (any != 0) {
    for (int i = 0; i < lanes; ++i) rounded.v[i] = softmax_share(e[i], sum, y_inverse);
  }
  return rounded;
}

// One row by a table of its results, from the greatest exponential down to where all are zero.
// `results` has 512 bytes; those from 256 on are read and never used.
template <int lanes>
static inline void softmax_row_by_table(const uint8_t* x, uint8_t* y, int n, const float* table,
                                        const float* entries, float sum, const ByteSoftmax& as,
                                        uint8_t* results) {
  memset(results, share_as_byte(0, as.zero_point, as.stored), 256);
  const Floats<lanes> factor = all_lanes<lanes>(as.y_inverse / sum);
  const Ints<lanes> most = {255 - as.stored - typename Ints<lanes>::Vector{}};
  const ptrdiff_t first = entries - table;
  for (ptrdiff_t i = 256 - lanes; i > first - lanes; i -= lanes) {
    const auto quotients = softmax_shares<lanes>(table + i, sum, as.y_inverse, factor);
    if (quotients.v[lanes - 1] == 0) break;
    const auto q = quotients.v + as.zero_point;
    store_low_bytes(results + i, Ints<lanes>{(q < most.v ? q : most.v) + as.stored});
  }
  lookup(x, y, results + first, n);
}

static inline void softmax_row(const uint8_t* x, uint8_t* y, int n, const float* table,
                               const float* entries, float sum, const ByteSoftmax& as,
                               uint8_t* results) {
  constexpr int kLeastRow = 32;  // shorter ones take less than their table
  if constexpr (kFloatLanes > 1) {
    if (n >= kLeastRow) {
      softmax_row_by_table<kFloatLanes>(x, y, n, table, entries, sum, as, results);
      return;
    }
  }
  for (int i = 0; i < n; ++i) {
    y[i] = share_as_byte(softmax_share(entries[x[i]], sum, as.y_inverse), as.zero_point, as.stored);
  }
}

// QLinearSoftmax over `rows` rows of `n` stored bytes. `table`[i] = exp((i - 255 + shift) *
// x_scale); each row is moved so that its maximum meets entry 255. `y_inverse` = floor(1 /
// y_scale). The result saturates to the logical type and is kept with `stored` added
// (128 when an int8 is stored as uint8, else 0). y may be x.
static inline void softmax_bytes(const uint8_t* x, uint8_t* y, const float* table, int rows, int n,
                                 float y_inverse, int y_zero_point, int stored) {
  const ByteSoftmax as = {y_inverse, y_zero_point, stored};
  uint8_t results[kFloatLanes > 1 ? 512 : 1] = {};
  int r = 0;
  for (; kFloatLanes > 1 && r + 4 <= rows; r += 4, x += 4 * n, y += 4 * n) {
    const float* entries[4];
    for (int k = 0; k < 4; ++k) entries[k] = softmax_entries(x + k * n, table, n);
    float sums[4];
    softmax_sums(x, entries, n, sums);
    for (int k = 0; k < 4; ++k)
      softmax_row(x + k * n, y + k * n, n, table, entries[k], sums[k], as, results);
  }
  for (; r < rows; ++r, x += n, y += n) {
    const float* const entries = softmax_entries(x, table, n);
    softmax_row(x, y, n, table, entries, softmax_sum(x, entries, n), as, results);
  }
}

}  // namespace rt
}  // namespace etch
