// Convolutions for Arm cores with SIMD on halfwords (SMLAD and its kind), in portable C++: what
// the functions in assembly of generated code compute, for compilers and CPUs that lack the
// instructions. Same packed weights, same scratch, same results. C++17, freestanding, no heap, no
// state. Arithmetic: docs/spec/requantization.md; sums wrap modulo 2^32.
//
// Four bytes of x in a row become two words of two halfwords each: bytes 0 and 2, then 1 and 3.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_float.h"
#include "etch_integer.h"

namespace etch {
namespace rt {

// What becomes of accumulators.
enum DspResult {
  kDspInt32 = 0,  // stored as they are
  kDspFloat = 1,  // rne(fl(fl(acc) * scale)) + zero point, clamped, as bytes
  kDspHigh = 2,   // floor((acc * m + r) / 2^(32 + s)) + zero point, clamped, as bytes
};

// How a function stores: `zero_points` holds the zero point in both halves.
struct DspStore {
  int result;      // DspResult
  int low, high;   // limits of the bytes
  ptrdiff_t step;  // elements of y from pixel to pixel
};

static inline int32_t dsp_low_half(int32_t pair) {
  return static_cast<int16_t>(static_cast<uint16_t>(static_cast<uint32_t>(pair) & 0xffffu));
}
static inline int32_t dsp_high_half(int32_t pair) {
  return static_cast<int16_t>(static_cast<uint16_t>(static_cast<uint32_t>(pair) >> 16));
}

// Byte i of a word, sign-extended.
static inline int32_t dsp_byte(int32_t word, int i) {
  return static_cast<int8_t>(static_cast<uint8_t>(static_cast<uint32_t>(word) >> (8 * i)));
}

// A weight of channel 0 or 1 in a halfword of two bytes; `joint`: the halfword is w0 + 256 * w1.
static inline int32_t dsp_weight(int32_t word, int half, int channel, bool joint) {
  const int32_t own = dsp_byte(word, 2 * half + channel);
  return own + (joint && channel == 1 && dsp_byte(word, 2 * half) < 0 ? 1 : 0);
}

// Of two channels that share a byte, u0 + 16 * w1: u0 is 0 to 15, w1 is -8 to 7.
static inline int32_t dsp_nibble(int32_t word, int byte, int channel) {
  const int32_t both = dsp_byte(word, byte), first = both & 15;
  return channel == 0 ? first : (both - first) / 16;
}

// By how much such weights of a channel are moved: those of the first, and 8 more.
static inline int32_t dsp_nibbles_moved(int32_t moved, int channel) { return moved + 8 * channel; }

// How often the second channel counts in what two channels with joint weights share.
static inline int32_t dsp_joint_factor(bool nibbles) { return nibbles ? 16 : 256; }

// The bias of the second channel of a block with joint weights, whose second bias is b0 + 256 * b1,
// of 4 bits b0 + 16 * b1.
static inline int32_t dsp_joint_bias(const int32_t* biases, bool nibbles) {
  const uint32_t both = static_cast<uint32_t>(biases[1]) - static_cast<uint32_t>(biases[0]);
  return static_cast<int32_t>(both) / dsp_joint_factor(nibbles);
}

static inline int32_t dsp_add_product(int32_t acc, int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(acc) +
                              static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

// Stores one accumulator; channel `c` of `together` has its factors at p: scales one after the
// other, or m, s and the halves of r per channel.
static inline void dsp_store(int32_t acc, const int32_t* p, int c, void* y, ptrdiff_t at,
                             int32_t zero_point, const DspStore& out) {
  if (out.result == kDspInt32) {
    static_cast<int32_t*>(y)[at] = acc;
    return;
  }
  int32_t q = 0;
  if (out.result == kDspFloat) {
    float scale = 0;
    memcpy(&scale, p + c, sizeof scale);
    const float scaled = opaque(static_cast<float>(acc) * scale);
    q = clamp_round_offset(scaled, zero_point, out.low, out.high);
  } else {
    const int32_t* const k = p + 4 * c;
    const int32_t line = multiply_high(acc, k[0], joined(k[2], k[3]), k[1]);
    const int32_t most = 32767;
    const int32_t inside = line > most ? most : (line < -most ? -most : line);
    q = inside + zero_point;
    q = q < out.low ? out.low : (q > out.high ? out.high : q);
  }
  static_cast<uint8_t*>(y)[at] = static_cast<uint8_t>(q);
}

static inline int dsp_factor_words(const DspStore& out, int channels) {
  return out.result == kDspInt32 ? 0 : (out.result == kDspFloat ? channels : 4 * channels);
}

// Expands `runs` runs of `words` words of `pixels` pixels: out[pair][pixel].
static inline void dsp_gather(const uint8_t* x, int32_t* out, int pixels, ptrdiff_t x_step,
                              int words, int runs, ptrdiff_t run_step) {
  for (int run = 0; run < runs; ++run) {
    for (int word = 0; word < words; ++word) {
      for (int p = 0; p < pixels; ++p) {
        const uint8_t* const at = x + run * run_step + p * x_step + 4 * word;
        out[p] = at[0] | at[2] << 16;
        out[pixels + p] = at[1] | at[3] << 16;
      }
      out += 2 * pixels;
    }
  }
}

// What weights minus `moved` leave out of a sum: `moved` times all elements of x.
static inline int32_t dsp_moved_sum(const int32_t* x, int pairs, int step, int32_t moved) {
  int32_t sum = 0;
  for (int k = 0; moved != 0 && k < pairs; ++k) {
    sum = dsp_add_product(sum, dsp_low_half(x[k * step]), moved);
    sum = dsp_add_product(sum, dsp_high_half(x[k * step]), moved);
  }
  return sum;
}

// A weight of channel `c` for a half of pair `k` of a dsp_tile().
static inline int32_t dsp_tile_weight(const int32_t* weights, int k, int half, int c, bool joint,
                                      bool nibbles) {
  return nibbles ? dsp_nibble(weights[k / 2], 2 * half + k % 2, c)
                 : dsp_weight(weights[k], half, c, joint);
}

// `pixels` pixels of x[pair][pixel] times all channels, two at a time; weights are those of the
// stream plus `moved`. The stream holds for every
// two channels: 2 biases; per pair of K a word of 4 bytes, channel 0 and 1 of the first element and
// then of the second; factors. With `joint` weights both bytes of an element are the halfword
// w0 + 256 * w1, the second bias is b0 + 256 * b1, and a second channel's scale is 1 / 256 of it.
// Joint weights that are `nibbles` have one word for two pairs of K, a byte u0 + 16 * w1 for each
// of the four elements in the order of x; 16 takes the place of 256, and w1 is moved by 8 more.
static inline void dsp_tile(const int32_t* x, const int32_t* stream, void* y, int32_t zero_points,
                            int pixels, int pairs, int channels, const DspStore& out,
                            int32_t moved = 0, bool joint = false, bool nibbles = false) {
  for (int first = 0; first < channels; first += 2) {
    const int32_t* const weights = stream + 2;
    const int32_t* const factors = weights + (nibbles ? pairs / 2 : pairs);
    for (int p = 0; p < pixels; ++p) {
      for (int c = 0; c < 2 && first + c < channels; ++c) {
        const bool second = joint && c == 1;
        const int32_t rest =
            dsp_moved_sum(x + p, pairs, pixels, nibbles ? dsp_nibbles_moved(moved, c) : moved);
        int32_t acc =
            dsp_add_product(second ? dsp_joint_bias(stream, nibbles) : stream[c], rest, 1);
        for (int k = 0; k < pairs; ++k) {
          const int32_t at = x[k * pixels + p];
          acc = dsp_add_product(acc, dsp_low_half(at),
                                dsp_tile_weight(weights, k, 0, c, joint, nibbles));
          acc = dsp_add_product(acc, dsp_high_half(at),
                                dsp_tile_weight(weights, k, 1, c, joint, nibbles));
        }
        if (second && out.result == kDspFloat) acc *= dsp_joint_factor(nibbles);
        dsp_store(acc, factors, c, y, p * out.step + first + c, dsp_low_half(zero_points), out);
      }
    }
    stream = factors + dsp_factor_words(out, 2);
  }
}

// What is added to the bytes of a tile: bytes from pixel to pixel, limits of the sum, and by how
// many bits it is shifted.
struct DspResidual {
  ptrdiff_t step;
  int low, high, bits;
  SumForm form;
};

// The byte (q * line[0] + r * line[1] + offset) / 2^bits, clamped; line[2] and, in 64 bits, line[3]
// are the halves of the offset, and both factors are unsigned.
static inline uint8_t dsp_sum(int32_t q, int32_t r, const int32_t* line, const DspResidual& add) {
  int64_t sum;
  if (add.form == kWideSum) {
    sum = (q * static_cast<int64_t>(static_cast<uint32_t>(line[0])) +
           r * static_cast<int64_t>(static_cast<uint32_t>(line[1])) + joined(line[2], line[3])) >>
          add.bits;
  } else {
    const int32_t narrow = sum_of_products(q, line[0], r, line[1], line[2]);
    sum = add.form == kSumToEven ? nearest_quotient(narrow, add.bits) : narrow >> add.bits;
  }
  return static_cast<uint8_t>(sum < add.low ? add.low : (sum > add.high ? add.high : sum));
}

// dsp_tile() to bytes, to which the bytes of the residual are added by dsp_sum().
static inline void dsp_tile_add(const int32_t* x, const int32_t* stream, uint8_t* y,
                                int32_t zero_points, const uint8_t* residual, const int32_t* line,
                                int pixels, int pairs, int channels, const DspStore& out,
                                const DspResidual& add, int32_t moved = 0, bool joint = false,
                                bool nibbles = false) {
  for (int first = 0; first < channels; first += 2) {
    const int here = channels - first < 2 ? channels - first : 2;
    uint8_t q[8] = {};
    DspStore packed = out;
    packed.step = 2;
    dsp_tile(x, stream, q, zero_points, pixels, pairs, here, packed, moved, joint, nibbles);
    stream += 2 + (nibbles ? pairs / 2 : pairs) + dsp_factor_words(out, 2);
    for (int p = 0; p < pixels; ++p) {
      for (int c = 0; c < here; ++c) {
        const int32_t r = residual[p * add.step + first + c];
        y[p * out.step + first + c] = dsp_sum(q[2 * p + c], r, line, add);
      }
    }
  }
}

// Weight `i` of channel `c` of four, of 4 elements of K that a dsp_row() has at w: a word of each
// channel, or, joint, words of channels 0 and 1 and of 2 and 3 for elements 0 and 2, then 1 and 3.
// As nibbles: a word of channels 0 and 1 and one of 2 and 3.
static inline int32_t dsp_row_weight(const int32_t* w, int i, int c, bool joint, bool nibbles) {
  if (nibbles) return dsp_nibble(w[c / 2], i, c % 2);
  return joint ? dsp_weight(w[2 * (i % 2) + c / 2], i / 2, c % 2, true) : dsp_byte(w[c], i);
}

// Element k of the pixel of a dsp_row(), widened by dsp_gather() or as it is.
static inline int32_t dsp_row_x(const int32_t* x, int k) {
  const int32_t pair = x[k / 4 * 2 + k % 2];
  return k % 4 < 2 ? dsp_low_half(pair) : dsp_high_half(pair);
}
static inline int32_t dsp_row_x(const uint8_t* x, int k) { return x[k]; }

// One pixel times all channels, four at a time; x is widened, or the bytes themselves. The stream
// holds for every four: 4 biases; per 4 elements of K a word of each channel; factors. Of joint
// weights: two and two as in dsp_tile(), and nibbles: two words per 4 elements of K.
template <class X>
static inline void dsp_row(const X* x, const int32_t* stream, void* y, int32_t zero_points,
                           int groups, int channels, const DspStore& out, int32_t moved = 0,
                           bool joint = false, bool nibbles = false) {
  int32_t sum = 0;  // of x
  for (int k = 0; (nibbles || moved != 0) && k < 4 * groups; ++k)
    sum = dsp_add_product(sum, dsp_row_x(x, k), 1);
  const int words = nibbles ? 2 : 4;  // of a group
  for (int first = 0; first < channels; first += 4) {
    const int32_t* const weights = stream + 4;
    const int32_t* const factors = weights + words * groups;
    for (int c = 0; c < 4 && first + c < channels; ++c) {
      const bool second = joint && c % 2 == 1;
      int32_t acc = second ? dsp_joint_bias(stream + c - 1, nibbles) : stream[c];
      acc = dsp_add_product(acc, sum, nibbles ? dsp_nibbles_moved(moved, c % 2) : moved);
      for (int k = 0; k < 4 * groups; ++k) {
        const int32_t* const w = weights + k / 4 * words;
        acc = dsp_add_product(acc, dsp_row_x(x, k), dsp_row_weight(w, k % 4, c, joint, nibbles));
      }
      if (second && out.result == kDspFloat) acc *= dsp_joint_factor(nibbles);
      dsp_store(acc, factors, c, y, first + c, dsp_low_half(zero_points), out);
    }
    stream = factors + dsp_factor_words(out, 4);
  }
}

// A rectangle of taps: bytes of x from row to row and from column to column.
struct DspTaps {
  int rows, cols;
  ptrdiff_t row_step, col_step;
};

// Depthwise: `pixels` pixels, all channels, four at a time. The stream holds for every four: 4
// biases; per tap the weights of channels 0 and 2 as halfwords, then of 1 and 3; factors.
static inline void dsp_depthwise(const uint8_t* x, const int32_t* stream, void* y,
                                 int32_t zero_points, int pixels, ptrdiff_t x_step,
                                 const DspTaps& taps, int channels, const DspStore& out) {
  const int count = taps.rows * taps.cols;
  for (int first = 0; first < channels; first += 4) {
    const int32_t* const weights = stream + 4;
    const int32_t* const factors = weights + 2 * count;
    for (int p = 0; p < pixels; ++p) {
      for (int c = 0; c < 4; ++c) {
        int32_t acc = stream[c];
        for (int tap = 0; tap < count; ++tap) {
          const uint8_t* const at = x + p * x_step + first + c + tap / taps.cols * taps.row_step +
                                    tap % taps.cols * taps.col_step;
          const int32_t w = weights[2 * tap + c % 2];
          acc = dsp_add_product(acc, *at, c < 2 ? dsp_low_half(w) : dsp_high_half(w));
        }
        dsp_store(acc, factors, c, y, p * out.step + first + c, dsp_low_half(zero_points), out);
      }
    }
    stream = factors + dsp_factor_words(out, 4);
  }
}

// Contiguous elements of K in x, and bytes from run to run. Weights are a byte of each of two
// channels per element, or, planar, all of one channel and then all of the other.
struct MlaRuns {
  int bytes, runs;
  ptrdiff_t step;
  bool planar = false;
};

// For cores without SIMD: `pixels` pixels of x, in place, times all channels, two at a time.
// The stream holds for every two: 2 biases; their weights; nothing or 2 bytes up to a whole word;
// factors.
static inline void mla_tile(const uint8_t* x, const int32_t* stream, void* y, int32_t zero_points,
                            int pixels, ptrdiff_t x_step, const MlaRuns& k, int channels,
                            const DspStore& out) {
  const int elements = k.bytes * k.runs;
  for (int first = 0; first < channels; first += 2) {
    const int32_t* const weights = stream + 2;
    const int32_t* const factors = weights + (elements + 1) / 2;
    for (int p = 0; p < pixels; ++p) {
      for (int c = 0; c < 2 && first + c < channels; ++c) {
        int32_t acc = stream[c];
        for (int i = 0; i < elements; ++i) {
          const int at = k.planar ? c * elements + i : 2 * i + c;
          const int32_t w = dsp_byte(weights[at / 4], at % 4);
          acc = dsp_add_product(acc, x[p * x_step + i / k.bytes * k.step + i % k.bytes], w);
        }
        dsp_store(acc, factors, c, y, p * out.step + first + c, dsp_low_half(zero_points), out);
      }
    }
    stream = factors + dsp_factor_words(out, 2);
  }
}

// dsp_depthwise() with a word of four bytes per tap for the weights of four channels.
static inline void mla_depthwise(const uint8_t* x, const int32_t* stream, void* y,
                                 int32_t zero_points, int pixels, ptrdiff_t x_step,
                                 const DspTaps& taps, int channels, const DspStore& out) {
  const int count = taps.rows * taps.cols;
  for (int first = 0; first < channels; first += 4) {
    const int32_t* const weights = stream + 4;
    const int32_t* const factors = weights + count;
    for (int p = 0; p < pixels; ++p) {
      for (int c = 0; c < 4; ++c) {
        int32_t acc = stream[c];
        for (int tap = 0; tap < count; ++tap) {
          const uint8_t* const at = x + p * x_step + first + c + tap / taps.cols * taps.row_step +
                                    tap % taps.cols * taps.col_step;
          acc = dsp_add_product(acc, *at, dsp_byte(weights[tap], c));
        }
        dsp_store(acc, factors, c, y, p * out.step + first + c, dsp_low_half(zero_points), out);
      }
    }
    stream = factors + dsp_factor_words(out, 4);
  }
}

}  // namespace rt
}  // namespace etch
