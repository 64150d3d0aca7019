// Convolutions of 3x3 taps for Arm cores with SIMD on halfwords by Winograd's F(2x2, 3x3), in
// portable C++: what the functions in assembly of generated code compute, see etch_dsp.h. Four
// tiles of 2x2 pixels in a row at a time. Weights are (2G) g (2G)^T, integers, so what comes out is
// exactly four times the sum of products. C++17, freestanding, no heap, no state; sums wrap modulo
// 2^32.
//
// Scratch memory v has for each of 16 positions, column after column: per pair of input channels a
// word of two halfwords for each of four tiles, then 8 sums, two channels of each tile. Pairs are
// channels 0 and 2, then 1 and 3 of every four.
#pragma once

#include "etch_dsp.h"

namespace etch {
namespace rt {

static inline int32_t winograd_half(int32_t a, int32_t b, bool add) { return add ? a + b : a - b; }

// Transforms the bytes of four rows of x, `row_bytes` apart, for four tiles of `channels`.
static inline void winograd_input(const uint8_t* x, int32_t* v, ptrdiff_t row_bytes, int channels) {
  const ptrdiff_t position = 2 * channels + 8;
  // Of the four values of a line, which two make each result, and whether they are added.
  const int first[4] = {0, 1, 2, 1}, second[4] = {2, 2, 1, 3};
  for (int tile = 0; tile < 4; ++tile) {
    for (int pair = 0; pair < channels / 2; ++pair) {
      for (int i = 0; i < 16; ++i) {
        const int row = i % 4, col = i / 4;
        int32_t half[2];
        for (int h = 0; h < 2; ++h) {
          const uint8_t* const at = x + 2 * tile * channels + pair / 2 * 4 + pair % 2 + 2 * h;
          const uint8_t* const a = at + first[row] * row_bytes;
          const uint8_t* const b = at + second[row] * row_bytes;
          const int left = first[col] * channels, right = second[col] * channels;
          half[h] = winograd_half(winograd_half(a[left], a[right], col == 1),
                                  winograd_half(b[left], b[right], col == 1), row == 1);
        }
        v[i * position + 4 * pair + tile] = static_cast<int32_t>(
            (static_cast<uint32_t>(half[0]) & 0xffffu) | static_cast<uint32_t>(half[1]) << 16);
      }
    }
  }
}

// Which of the 2 x 8 pixels of four tiles are stored, and elements from row to row.
struct WinogradTiles {
  int in, out;  // channels, even
  int rows, columns;
  ptrdiff_t y_row, residual_row;
};

// Multiplies the four tiles of v by all channels, two at a time. The stream holds for every two:
// per position and pair of input channels two halfwords of each, 2 biases, factors. A residual (or
// null) is added as in dsp_tile_add().
static inline void winograd_tiles(int32_t* v, const int32_t* stream, uint8_t* y,
                                  int32_t zero_points, const uint8_t* residual, const int32_t* line,
                                  const WinogradTiles& size, const DspStore& out,
                                  const DspResidual& add) {
  const int pairs = size.in / 2;
  const ptrdiff_t position = 2 * size.in + 8;
  for (int first = 0; first < size.out; first += 2) {
    const int32_t* const bias = stream + 32 * pairs;
    for (int column = 0; column < size.columns; ++column) {
      for (int row = 0; row < size.rows; ++row) {
        for (int c = 0; c < 2; ++c) {
          uint32_t sum = 0;
          for (int i = 0; i < 16; ++i) {
            // Rows of A^T: 1, 1, 1, 0 and 0, 1, -1, -1.
            const int of_row = i % 4 == 3 - 3 * row ? 0 : (row == 1 && i % 4 > 1 ? -1 : 1);
            const int of_col =
                i / 4 == 3 - 3 * (column % 2) ? 0 : (column % 2 == 1 && i / 4 > 1 ? -1 : 1);
            int32_t m = 0;
            for (int k = 0; k < pairs; ++k) {
              const int32_t at = v[i * position + 4 * k + column / 2];
              const int32_t w = stream[2 * (i * pairs + k) + c];
              m = dsp_add_product(m, dsp_low_half(at), dsp_low_half(w));
              m = dsp_add_product(m, dsp_high_half(at), dsp_high_half(w));
            }
            sum += static_cast<uint32_t>(of_row * of_col) * static_cast<uint32_t>(m);
          }
          const int32_t quarter = static_cast<int32_t>(sum) >> 2;
          const int32_t acc =
              static_cast<int32_t>(static_cast<uint32_t>(quarter) + static_cast<uint32_t>(bias[c]));
          uint8_t q[4] = {};
          dsp_store(acc, bias + 2, c, q, 0, dsp_low_half(zero_points), out);
          uint8_t* const to = y + row * size.y_row + column * out.step + first + c;
          if (residual == nullptr) {
            *to = q[0];
            continue;
          }
          const int32_t r = residual[row * size.residual_row + column * add.step + first + c];
          *to = dsp_sum(q[0], r, line, add);
        }
      }
    }
    stream = bias + 2 + dsp_factor_words(out, 2);
  }
}

}  // namespace rt
}  // namespace etch
