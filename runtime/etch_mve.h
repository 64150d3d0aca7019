// Convolutions for Arm cores with Helium (MVE), in portable C++: what the functions in assembly of
// generated code compute, for compilers and CPUs that lack the instructions. Same packed weights,
// same results. C++17, freestanding, no heap, no state. Arithmetic: docs/spec/requantization.md,
// docs/spec/qlinear.md; sums wrap modulo 2^32.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_float.h"

namespace etch {
namespace rt {

// Bytes of x that a position of the output multiplies: `repeat` times `bytes`, `step` apart.
struct MvePiece {
  ptrdiff_t offset;
  int repeat;
  ptrdiff_t step;
  int bytes;
};

// What becomes of accumulators: stored as they are, or rne(fl(fl(acc) * scale)) + zero point,
// clamped, as bytes.
struct MveStore {
  bool is_int32;
  int zero_point, low, high;  // as stored
  ptrdiff_t step;             // elements of y from pixel to pixel
};

// A quantized tensor that is added to the bytes before they are stored: clamped
// rne(fma(a, ratio_a, fma(b, ratio_b, fixed))), of which one is the result and one the residual.
// `*_stored`: stored minus logical.
struct MveAdd {
  bool is_there, residual_is_a;
  float ratio_a, ratio_b, fixed;
  int a_stored, b_stored, y_stored, low, high;
  ptrdiff_t step;  // bytes of the residual from pixel to pixel
};

// The pixels of a tile, `x_step` bytes of x apart, and the channels: all, `block` at a time.
struct MveTile {
  int pixels;
  ptrdiff_t x_step;
  int block, channels;
  bool gathered;  // pieces follow one another in the stream without gaps
  int offset;     // of weights as stored, which are 0 to 255
};

static inline uint32_t mve_word(const int32_t* p) { return static_cast<uint32_t>(*p); }

// The weight of byte k of K and channel c of n, as stored.
static inline uint32_t mve_weight(const int32_t* weights, int k, int n, int c) {
  const int32_t* const vector = weights + (k / 16 * n + c) * 4;
  return mve_word(vector + k % 16 / 4) >> (8 * (k % 4)) & 0xffu;
}

static inline uint32_t mve_sum(const uint8_t* x, const int32_t* weights, const MveTile& tile,
                               const MvePiece* pieces, int count, int n, int c) {
  uint32_t sum = 0;
  int k = 0;
  for (int i = 0; i < count; ++i) {
    for (int r = 0; r < pieces[i].repeat; ++r) {
      const uint8_t* const from = x + pieces[i].offset + r * pieces[i].step;
      for (int b = 0; b < pieces[i].bytes; ++b, ++k)
        sum += from[b] * (mve_weight(weights, k, n, c) - static_cast<uint32_t>(tile.offset));
      if (!tile.gathered) k = (k + 15) / 16 * 16;
    }
  }
  return sum;
}

static inline int mve_vectors(const MveTile& tile, const MvePiece* pieces, int count) {
  int vectors = 0;
  int bytes = 0;
  for (int i = 0; i < count; ++i) {
    vectors += pieces[i].repeat * ((pieces[i].bytes + 15) / 16);
    bytes += pieces[i].repeat * pieces[i].bytes;
  }
  return tile.gathered ? (bytes + 15) / 16 : vectors;
}

// Where the bias of channel c of a block is; its scale follows `*scale` words later.
static inline int mve_factor(const MveTile& tile, bool is_int32, int c, int* scale) {
  if (tile.block == 2) {
    *scale = 1;
    return is_int32 ? c : 2 * c;
  }
  *scale = tile.block;
  return tile.block == 4 ? c : c % 2 * 4 + c / 2;
}

static inline int mve_factor_words(const MveTile& tile, bool is_int32, int n) {
  return (tile.block == 2 ? n : tile.block) * (is_int32 ? 1 : 2);
}

static inline uint8_t mve_added(const MveAdd& add, int32_t result, int32_t residual) {
  const int32_t a = (add.residual_is_a ? residual : result) - add.a_stored;
  const int32_t b = (add.residual_is_a ? result : residual) - add.b_stored;
  const float inner = fma_exact(static_cast<float>(b), add.ratio_b, add.fixed);
  const float sum = fma_exact(static_cast<float>(a), add.ratio_a, inner);
  return static_cast<uint8_t>(clamp_round_offset(sum, add.y_stored, add.low, add.high));
}

// The stream holds for every block of n channels: per 16 bytes of K 16 weights of each channel, as
// stored, 0 after the end of a piece; biases and scales: of block 2 those of each channel side
// by side, of block 4 all biases and then all scales, of block 8 the same with even channels first.
static inline void mve_tile(const uint8_t* x, const int32_t* stream, void* y, const uint8_t* r,
                            const MveTile& tile, const MvePiece* pieces, int count,
                            const MveStore& out, const MveAdd& add) {
  const int vectors = mve_vectors(tile, pieces, count);
  for (int first = 0; first < tile.channels; first += tile.block) {
    const int rest = tile.channels - first;
    const int n = rest < tile.block ? rest : tile.block;
    const int32_t* const factors = stream + vectors * n * 4;
    for (int p = 0; p < tile.pixels; ++p) {
      for (int c = 0; c < n; ++c) {
        int to_scale = 0;
        const int32_t* const f = factors + mve_factor(tile, out.is_int32, c, &to_scale);
        const uint32_t sum = mve_sum(x + p * tile.x_step, stream, tile, pieces, count, n, c);
        const auto acc = static_cast<int32_t>(sum + mve_word(f));
        const ptrdiff_t at = p * out.step + first + c;
        if (out.is_int32) {
          static_cast<int32_t*>(y)[at] = acc;
          continue;
        }
        float scale = 0;
        memcpy(&scale, f + to_scale, sizeof scale);
        const int32_t q = clamp_round_offset(opaque(static_cast<float>(acc) * scale),
                                             out.zero_point, out.low, out.high);
        static_cast<uint8_t*>(y)[at] =
            add.is_there ? mve_added(add, q, r[p * add.step + first + c]) : static_cast<uint8_t>(q);
      }
    }
    stream = factors + mve_factor_words(tile, out.is_int32, n);
  }
}

// One result of a depthwise convolution, the stream's factors of its channel: bias; scale, where y
// is bytes.
static inline void mve_store(void* y, ptrdiff_t at, uint32_t sum, const int32_t* factors,
                             const MveStore& out) {
  const auto acc = static_cast<int32_t>(sum + mve_word(factors));
  if (out.is_int32) {
    static_cast<int32_t*>(y)[at] = acc;
    return;
  }
  float scale = 0;
  memcpy(&scale, factors + 1, sizeof scale);
  static_cast<uint8_t*>(y)[at] = static_cast<uint8_t>(clamp_round_offset(
      opaque(static_cast<float>(acc) * scale), out.zero_point, out.low, out.high));
}

static inline uint32_t mve_signed_product(uint8_t x, const int32_t* weights, int k) {
  const auto w = static_cast<int8_t>(mve_word(weights + k / 4) >> (8 * (k % 4)) & 0xffu);
  return static_cast<uint32_t>(static_cast<int8_t>(x) * w);
}

// Depthwise convolutions: rows of x that a position of the output reads are interleaved in scratch
// memory, as signed bytes, scratch[channel][column][row], four rows to a word.
struct MveRows {
  int first, count;        // which of the four rows come from x, where the first of them starts
  int padding;             // what the others hold, as stored
  ptrdiff_t row_step;      // bytes of x
  int columns;             // of x
  ptrdiff_t column_step;   // bytes of x
  int channels;            // rounded up to 16
  ptrdiff_t channel_step;  // bytes of scratch
};

static inline void mve_interleave(const uint8_t* x, uint8_t* scratch, const MveRows& rows) {
  for (int c = 0; c < rows.channels; ++c) {
    for (int column = 0; column < rows.columns; ++column) {
      uint8_t* const word = scratch + c * rows.channel_step + 4 * column;
      for (int row = 0; row < 4; ++row) {
        const int from = row - rows.first;
        const bool there = from >= 0 && from < rows.count;
        const int value =
            there ? x[from * rows.row_step + column * rows.column_step + c] : rows.padding;
        word[row] = static_cast<uint8_t>(value ^ 0x80);
      }
    }
  }
}

struct MveDepthwise {
  int pixels;        // along a row of the output
  ptrdiff_t x_step;  // bytes of scratch from pixel to pixel
  int rows;          // of the output, 1 or 2, from the same rows of x
  ptrdiff_t y_row;   // elements
  int channels;
  ptrdiff_t channel_step;  // bytes of scratch
  int row_groups;          // of four rows of taps
  ptrdiff_t group_step;    // bytes of scratch
  int column_groups;       // of four columns of taps
  int parts;               // int8 weights that add up to one weight
};

// The stream holds for every channel: for every four rows and columns of taps, for each part, 16
// weights for each row of the output; bias; scale, where y is bytes.
static inline void mve_depthwise(const uint8_t* x, const int32_t* stream, void* y,
                                 const MveDepthwise& tile, const MveStore& out) {
  const int vectors = tile.row_groups * tile.column_groups * tile.parts;
  for (int c = 0; c < tile.channels; ++c) {
    const int32_t* const factors = stream + 4 * vectors * tile.rows;
    for (int row = 0; row < tile.rows; ++row) {
      for (int p = 0; p < tile.pixels; ++p) {
        uint32_t sum = 0;
        for (int v = 0; v < vectors; ++v) {
          const int group = v / tile.parts;
          const uint8_t* const from = x + c * tile.channel_step + p * tile.x_step +
                                      group / tile.column_groups * tile.group_step +
                                      group % tile.column_groups * 16;
          const int32_t* const weights = stream + 4 * (v * tile.rows + row);
          for (int k = 0; k < 16; ++k) sum += mve_signed_product(from[k], weights, k);
        }
        mve_store(y, row * tile.y_row + p * out.step + c, sum, factors, out);
      }
    }
    stream = factors + (out.is_int32 ? 1 : 2);
  }
}

// Depthwise convolutions along one axis: a line of x is split into its channels in scratch memory,
// as signed bytes, so that taps are neighbours. Positions `phases` apart, which is the dilation,
// are neighbours too: scratch[channel][phase][position / phases].
struct MveLine {
  int positions;           // of x
  ptrdiff_t step;          // bytes of x
  int channels;            // rounded up to 8
  ptrdiff_t channel_step;  // bytes of scratch
  int first;               // the phase of the first position
  int phases;
  ptrdiff_t phase_step;  // bytes of scratch
};

// `scratch`: where channel 0 of the first position goes.
static inline void mve_split_line(const uint8_t* x, uint8_t* scratch, const MveLine& line) {
  int phase = line.first;
  ptrdiff_t place = 0;
  for (int i = 0; i < line.positions; ++i) {
    for (int c = 0; c < line.channels; ++c)
      scratch[c * line.channel_step + place] = static_cast<uint8_t>(x[i * line.step + c] ^ 0x80);
    place += line.phase_step;
    if (++phase == line.phases) {
      phase = 0;
      place += 1 - line.phases * line.phase_step;
    }
  }
}

struct MveLineTile {
  int pixels;        // 1 to 8, along the line
  ptrdiff_t x_step;  // bytes of scratch from pixel to pixel
  int channels;
  ptrdiff_t channel_step;  // bytes of scratch
  int vectors;             // of 16 taps
  int parts;               // int8 weights that add up to one weight
};

// The stream holds for every channel: for each vector of taps, for each part, 16 weights; bias;
// scale, where y is bytes.
static inline void mve_line_tile(const uint8_t* x, const int32_t* stream, void* y,
                                 const MveLineTile& tile, const MveStore& out) {
  for (int c = 0; c < tile.channels; ++c) {
    const int32_t* const factors = stream + 4 * tile.vectors * tile.parts;
    for (int p = 0; p < tile.pixels; ++p) {
      const uint8_t* const from = x + c * tile.channel_step + p * tile.x_step;
      uint32_t sum = 0;
      for (int v = 0; v < tile.vectors * tile.parts; ++v) {
        for (int k = 0; k < 16; ++k)
          sum += mve_signed_product(from[v / tile.parts * 16 + k], stream + 4 * v, k);
      }
      mve_store(y, p * out.step + c, sum, factors, out);
    }
    stream = factors + (out.is_int32 ? 1 : 2);
  }
}

// QuantizeLinear of floats (docs/spec/quantization.md section 2.3).
struct MveQuantize {
  int elements;
  ptrdiff_t step;  // bytes of y from element to element
  float scale;
  int low, high, zero_point;  // limits of the quotient; as stored
};

static inline void mve_quantize(const float* x, uint8_t* y, const MveQuantize& q) {
  for (int i = 0; i < q.elements; ++i)
    y[i * q.step] = static_cast<uint8_t>(clamp_round_offset(
        x[i] / q.scale, q.zero_point, q.low + q.zero_point, q.high + q.zero_point));
}

}  // namespace rt
}  // namespace etch
