// The second matrix of a product of two matrices that arrive at run time, as the stream that tiles
// for Arm cores with Helium read (etch_mve.h): bytes of b as they are, which a tile multiplies less
// their zero point; what sums start from, -za * sum (b - zb); scales. Sums wrap modulo 2^32. C++17,
// freestanding, no heap, no state; with and without vectors the same bits.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_helium.h"
#include "etch_mve.h"
#include "etch_stored.h"

namespace etch {
namespace rt {

// Steps of b and scales count elements; zero points are those of bytes without `b.flip`.
struct MveColumns {
  int32_t depth, cols, block;
  ptrdiff_t depth_step, col_step, scale_step;
  Stored b;
  int32_t a_zero, b_zero;
};

#if defined(ETCH_HELIUM)
// Offsets of eight bytes are 16 bits wide.
static inline bool mve_gathers(const MveColumns& s) {
  return s.b.flip == 0 && s.depth_step >= 0 && s.depth_step <= 0xffff / 15;
}

// 16 bytes of a column into four words, 0 after its end; adds them to the sum.
static inline uint32_t mve_pack_vectors(const MveColumns& s, const uint8_t* b, int32_t* to,
                                        ptrdiff_t next) {
  const uint16x8_t even = vmulq_n_u16(vidupq_n_u16(0, 2), static_cast<uint16_t>(s.depth_step));
  const uint16x8_t odd = vaddq_n_u16(even, static_cast<uint16_t>(s.depth_step));
  uint32_t sum = 0;
  for (int32_t rest = s.depth; rest > 0; rest -= 16, b += 16 * s.depth_step, to += next) {
    uint8x16_t bytes;
    if (s.depth_step == 1) {
      bytes = vldrbq_z_u8(b, vctp8q(static_cast<uint32_t>(rest)));
    } else {
      const auto n = static_cast<uint32_t>(rest);
      const uint16x8_t first = vldrbq_gather_offset_z_u16(b, even, vctp16q((n + 1) / 2));
      const uint16x8_t second = vldrbq_gather_offset_z_u16(b, odd, vctp16q(n / 2));
      bytes = vreinterpretq_u8_u16(vsliq_n_u16(first, second, 8));
    }
    sum = vaddvaq_u8(sum, bytes);
    vst1q_s32(to, vreinterpretq_s32_u8(bytes));
  }
  return sum;
}
#endif

// A column into words of the stream, four of each `next`; returns the sum of its bytes.
static inline uint32_t mve_pack_column(const MveColumns& s, const uint8_t* b, int32_t* to,
                                       ptrdiff_t next) {
#if defined(ETCH_HELIUM)
  if (mve_gathers(s)) return mve_pack_vectors(s, b, to, next);
#endif
  uint32_t sum = 0;
  for (int32_t k = 0; k < s.depth; k += 16, to += next) {
    uint32_t words[4] = {0, 0, 0, 0};
    const int32_t n = s.depth - k < 16 ? s.depth - k : 16;
    for (int32_t i = 0; i < n; ++i) {
      const uint32_t byte = b[(k + i) * s.depth_step] ^ static_cast<uint32_t>(s.b.flip);
      words[i / 4] |= byte << (8 * (i % 4));
      sum += byte;
    }
    memcpy(to, words, sizeof words);
  }
  return sum;
}

// The stream of all columns of b.
static inline void mve_pack_columns(const MveColumns& s, const uint8_t* b, const float* scale,
                                    int32_t* stream) {
  const MveTile tile = {0, 0, s.block, s.cols, false, 0};
  const uint32_t of_zeros = static_cast<uint32_t>(s.depth) * static_cast<uint32_t>(s.b_zero);
  for (int32_t first = 0; first < s.cols; first += s.block) {
    const int32_t rest = s.cols - first;
    const int32_t n = rest < s.block ? rest : s.block;
    int32_t* const factors = stream + (s.depth + 15) / 16 * n * 4;
    const int32_t words = mve_factor_words(tile, false, n);
    for (int32_t i = 0; i < words; ++i) factors[i] = 0;
    for (int32_t c = 0; c < n; ++c) {
      const uint32_t sum =
          mve_pack_column(s, b + (first + c) * s.col_step, stream + 4 * c, ptrdiff_t{4} * n);
      int to_scale = 0;
      int32_t* const bias = factors + mve_factor(tile, false, c, &to_scale);
      *bias = static_cast<int32_t>((of_zeros - sum) * static_cast<uint32_t>(s.a_zero));
      memcpy(bias + to_scale, scale + (first + c) * s.scale_step, sizeof(float));
    }
    stream = factors + words;
  }
}

}  // namespace rt
}  // namespace etch
