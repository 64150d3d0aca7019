// Convolutions and products of 16-bit activations and 8-bit weights, requantized to 16 bits with
// integers alone:
//   sum = bias + the sum of (x - zero) * w       32 bits; proved to fit before code is generated
//   y   = limits of rne(sum * m / 2^e + rest) + zero    m: 60 bits, exact; ties to even
// rest: what a bias has beyond an integer, at most half of what 1 in the sum adds.
// x is taken as int16 (uint16 less 32768), so that pairs of channels are one step of pmaddwd, and
// what that and the zero point add is taken off per tap. C++17, freestanding, no heap, no state.
//
// Weights that leave 8 bits less their zero point are packed less another number, and the sum of x
// times the difference is added. Sums that may leave 32 bits are taken in parts of the channels, of
// which each fits, added in 64 bits and limited to 32: what is beyond has a limit as its y.
//
// Most factors have no sum whose y is a tie within the limits of y, which is proved before code is
// generated. Rounding is then adding a half and shifting.
//
// Packed weights: columns (output channels of a group) in panels of kPanel as in
// etch_float_products.h; in a panel, row (position * pairs + pair) has two weights per column,
// those of channels 2 * pair and 2 * pair + 1 as int8, of which the last may be 0. They are side by
// side, or in the order WordOrder::kFours for each four columns that the panel has. In the order
// kEights a row has eight channels.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_products.h"
#include "etch_intrinsics.h"
#include "etch_word_end.h"
#include "etch_word_tiles.h"

namespace etch {
namespace rt {

// What one row of tiles reads and writes; as FloatRow. `scale` is at the column: high, low, shift
// and rest are `columns` apart; for WordForm::kPlain the arguments of untied_word().
template <class T>
struct WordRow {
  const T* x;
  const uint8_t* w;
  ptrdiff_t width;
  const int32_t *taken_off, *bias, *scale;
  ptrdiff_t columns;
  T* y;
};

// The channels [first, end) of the sums, of which `taken_off` is for the part.
struct WordPart {
  int32_t first, end;
  const int32_t* taken_off;
};

template <WordForm form, int pixels, class T>
ETCH_INLINE void finish_words(const int32_t* sums, int32_t count, const WordEnd& end,
                              const WordRow<T>& row, T* y, ptrdiff_t y_pixel, ptrdiff_t y_channel) {
  // The columns that vectors take; where a loop over them ends, g++ 12 does not see, and warns.
  int32_t whole = 0;
#if defined(ETCH_WIDE_WORDS)
  constexpr int kStep = form == WordForm::kPlain ? kWordLanes : kWideLanes;
  if (y_channel == 1) whole = count - count % kStep;
  for (int32_t c = 0; c < whole; c += kStep) {
    if constexpr (form == WordForm::kPlain) {
      finish_untied(sums + c, pixels, count, end, row.scale + c, row.columns, y + c, y_pixel);
    } else {
      finish_wide(sums + c, pixels, count, end, row.scale + c, row.columns, y + c, y_pixel);
    }
  }
#endif
  if constexpr (form == WordForm::kPlain) {
    const ptrdiff_t columns = row.columns;
    const int32_t* scale = row.scale + whole;
    for (int32_t c = whole; c < count; ++c, ++scale) {
      const UntiedFactor factor = {scale[0], scale[columns], scale[2 * columns], scale[3 * columns],
                                   scale[4 * columns]};
      finish_untied_column<pixels>(sums + c, count, end, factor, y + c * y_channel, y_pixel);
    }
    return;
  }
  for (int32_t p = 0; p < pixels; ++p) {
    for (int32_t c = whole; c < count; ++c) {
      y[p * y_pixel + c * y_channel] =
          finished_word<T>(sums[p * count + c], end, row.scale + c, row.columns);
    }
  }
}

#if defined(ETCH_ARM_LANES)
// Adds pairs of eight elements to four sums.
template <class T>
ETCH_INLINE int32x4_t plus_pairs_of_words(int32x4_t sums, const T* x, int32_t flip) {
  uint16x8_t words;
  ETCH_MEMCPY(&words, x, sizeof words);
  const uint16x8_t turned = veorq_u16(words, vdupq_n_u16(static_cast<uint16_t>(flip)));
  return vpadalq_s16(sums, vreinterpretq_s16_u16(turned));
}
#endif

// The sum of `count` elements of x, `step` apart, modulo 2^32.
template <class T>
ETCH_INLINE uint32_t sum_of_words(const T* x, int32_t count, ptrdiff_t step, int32_t flip) {
  uint32_t sum = 0;
  int32_t c = 0;
#if defined(__GNUC__) && defined(__SSE4_1__)
  if (step == 1) {
    __m128i sums = _mm_setzero_si128();
    for (; c + 8 <= count; c += 8) {
      const __m128i words = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + c)),
                                          _mm_set1_epi16(static_cast<int16_t>(flip)));
      sums = _mm_add_epi32(sums, _mm_madd_epi16(words, _mm_set1_epi16(1)));
    }
    sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0x4e));
    sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0xb1));
    sum = static_cast<uint32_t>(_mm_cvtsi128_si32(sums));
  }
#elif defined(ETCH_ARM_LANES)
  if (step == 1) {
    int32x4_t sums[2] = {vdupq_n_s32(0), vdupq_n_s32(0)};
    for (; c + 16 <= count; c += 16) {
      sums[0] = plus_pairs_of_words(sums[0], x + c, flip);
      sums[1] = plus_pairs_of_words(sums[1], x + c + 8, flip);
    }
    for (; c + 8 <= count; c += 8) sums[0] = plus_pairs_of_words(sums[0], x + c, flip);
    sum = static_cast<uint32_t>(vaddvq_s32(vaddq_s32(sums[0], sums[1])));
  }
#endif
  for (; c < count; ++c) {
    const int32_t word = static_cast<uint16_t>(x[c * step]) ^ flip;
    sum += static_cast<uint32_t>(static_cast<int16_t>(word));
  }
  return sum;
}

// The sum of x over the window, modulo 2^32.
template <class T>
static inline uint32_t sum_of_window(const FloatConvShape& s, const T* x, int32_t flip,
                                     const WordPart& part, const Window& window) {
  uint32_t sum = 0;
  for_each_tap(s.axis, window, [&](ptrdiff_t at, int32_t) {
    sum +=
        sum_of_words(x + at + part.first * s.x_channel, part.end - part.first, s.x_channel, flip);
  });
  return sum;
}

// How to go through the taps of a window, axis by axis: from one to the next in x and in the
// weights. `x` and `w` are of the first tap, x without the position on the axis of tiles.
struct WordTaps {
  int32_t count[3];
  ptrdiff_t x, x_step[3], w, w_step[3];
  int32_t channels;  // of each
};

// `w_tap`: from the weights of one position of the kernel to those of the next.
static inline WordTaps taps_of_words(const FloatConvShape& s, const Window& window,
                                     ptrdiff_t w_tap) {
  WordTaps taps;
  taps.x = taps.w = 0;
  taps.channels = s.in;
  for (int a = 2; a >= 0; --a) {
    const TapRange& range = window.axis[a];
    taps.count[a] = range.count;
    taps.x_step[a] = range.x_step * s.axis[a].x_step;
    taps.w_step[a] = range.step * w_tap;
    taps.w += range.first * w_tap;
    if (a != s.along) taps.x += range.x * s.axis[a].x_step;
    w_tap *= s.axis[a].kernel;
  }
  return taps;
}

// Of packed weights, whose rows have `width` columns.
template <WordOrder order>
ETCH_INLINE ptrdiff_t bytes_of_tap(const FloatConvShape& s, ptrdiff_t width) {
  constexpr int32_t kChannels = channels_in_row(order);
  return (s.in + kChannels - 1) / kChannels * kChannels * width;
}

// Where the channels of neighbouring taps follow each other, they are one run.
template <WordOrder order>
static inline WordTaps runs_of_words(const FloatConvShape& s, const Window& window,
                                     ptrdiff_t w_tap) {
  WordTaps taps = taps_of_words(s, window, w_tap);
  const bool whole = s.x_channel == 1 && s.in % channels_in_row(order) == 0;
  if (whole && taps.w_step[2] == w_tap && taps.x_step[2] == s.in) {
    taps.channels *= taps.count[2];
    taps.count[2] = taps.count[2] < 1 ? 0 : 1;
  }
  return taps;
}

// What tiles of `columns` columns have in common: the taps, and what sums start from, which is
// `bias` less what is taken off at each position of the window. Kept for the tiles after it, most
// of which see the same taps.
template <int columns>
struct WordStarts {
  TapRange range;  // on the axis of tiles; a count of -1: not known yet
  WordTaps taps;
  int32_t sums[static_cast<size_t>(columns)];
};

// Whether `starts` is of this window, whose other axes are those of the call before.
template <int columns>
ETCH_INLINE bool knows(const WordStarts<columns>& starts, const TapRange& range) {
  const TapRange& known = starts.range;
  return range.count == known.count && range.first == known.first && range.step == known.step;
}

template <int lanes, int count>
ETCH_INLINE void store_starts(const FloatConvShape& s, const WordEnd& end, const Window& window,
                              const int32_t* bias, const int32_t* taken_off, ptrdiff_t columns,
                              int32_t* sums) {
  WordColumns<lanes, count> first;
  start(first, bias);
  if (end.corrected != 0) {
    for_each_tap(s.axis, window,
                 [&](ptrdiff_t, int32_t tap) { subtract(first, taken_off + tap * columns); });
  }
  ETCH_MEMCPY(sums, &first, sizeof first);
}

// All pixels start from the same sums.
template <int lanes, int count, int pixels>
ETCH_INLINE void begin(WordTile<lanes, count, pixels>& tile, const int32_t* sums) {
  WordColumns<lanes, count> first;
  start(first, sums);
  repeat(tile, first);
}

// The first tap of a tile in x.
template <class T>
ETCH_INLINE const T* first_tap(const FloatConvShape& s, const WordTaps& taps, const T* x,
                               const Window& window) {
  return x + taps.x + window.axis[s.along].x * s.axis[s.along].x_step;
}

// Calls body(x, w) for each tap.
template <class T, class W, class Body>
ETCH_INLINE void for_each_tap(const WordTaps& taps, const T* x, const W* w, Body body) {
  w += taps.w;
  for (int32_t i = taps.count[0]; i > 0; --i, x += taps.x_step[0], w += taps.w_step[0]) {
    const T* x1 = x;
    const W* w1 = w;
    for (int32_t j = taps.count[1]; j > 0; --j, x1 += taps.x_step[1], w1 += taps.w_step[1]) {
      const T* x2 = x1;
      const W* w2 = w1;
      for (int32_t k = taps.count[2]; k > 0; --k, x2 += taps.x_step[2], w2 += taps.w_step[2])
        body(x2, w2);
    }
  }
}

// Adds what the channels of each tap have.
template <Pair pair, WordOrder order, int lanes, int count, int pixels, class T>
ETCH_INLINE void add_taps(WordTile<lanes, count, pixels>& tile, const FloatConvShape& s,
                          const WordTaps& taps, const T* first, const uint8_t* weights,
                          ptrdiff_t width) {
  const ptrdiff_t x_pixel = next_input(s);
  const ptrdiff_t x_channel = s.x_channel, w_pair = 2 * width;
  const ptrdiff_t x_pair = pair == Pair::kNeighbours ? 2 : 2 * x_channel;
  const ptrdiff_t x_pairs = taps.channels / 2 * x_pair;
  const bool is_odd = taps.channels % 2 != 0;
  for_each_tap(taps, first, weights, [&](const T* x, const uint8_t* w) {
    for (const T* const end = x + x_pairs; x != end; x += x_pair, w += w_pair)
      add_pairs<pair, order>(tile, x, x_pixel, x_channel, w);
    if (is_odd) add_pairs<Pair::kOne, order>(tile, x, x_pixel, x_channel, w);
  });
}

// The same of rows of eight channels, which are neighbours in x.
template <int count, int pixels, class T>
ETCH_INLINE void add_taps_by_eights(WordTile<1, count, pixels>& tile, const FloatConvShape& s,
                                    const WordTaps& taps, const T* first, const uint8_t* weights,
                                    ptrdiff_t width) {
  const ptrdiff_t x_pixel = next_input(s);
  const int32_t whole = taps.channels & ~7, rest = taps.channels & 7;
  for_each_tap(taps, first, weights, [&](const T* x, const uint8_t* w) {
    EightColumns<count> row;
    for (const T* const end = x + whole; x != end; x += 8, w += 8 * width) {
      load(row, w);
      add_eights(tile, x, x_pixel, 8, row);
    }
    if (rest == 0) return;
    load(row, w);
    add_eights(tile, x, x_pixel, rest, row);
  });
}

// sums[pixel * lanes * count + column], each pixel starting from `starts`; `x` is the first tap.
template <Pair pair, WordOrder order, int lanes, int count, int pixels, class T>
static inline void word_sums(const FloatConvShape& s, const WordTaps& taps, const T* x,
                             const WordRow<T>& row, const int32_t* starts, int32_t* sums) {
  WordTile<lanes, count, pixels> tile;
  begin(tile, starts);
  if constexpr (order == WordOrder::kEights) {
    add_taps_by_eights(tile, s, taps, x, row.w, row.width);
  } else {
    add_taps<pair, order>(tile, s, taps, x, row.w, row.width);
  }
  ETCH_MEMCPY(sums, &tile, sizeof tile);
}

// Adds what weights of a part are beyond their bytes.
template <int columns, int pixels, class T>
static inline void add_beyond(const FloatConvShape& s, const WordEnd& end, const WordRow<T>& row,
                              const Window& window, const WordPart& part, int32_t* sums) {
  const ptrdiff_t x_pixel = next_input(s);
  for (int32_t p = 0; p < pixels; ++p, sums += columns) {
    const uint32_t of_x = sum_of_window(s, row.x + p * x_pixel, end.flip, part, window);
    for (int32_t c = 0; c < columns; ++c) {
      const uint32_t more = of_x * static_cast<uint32_t>(row.bias[row.columns + c]);
      sums[c] = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) + more);
    }
  }
}

// Those of one part.
template <Pair pair, WordOrder order, int lanes, int count, int pixels, class T>
static inline void sums_of_part(const FloatConvShape& s, const WordEnd& end, const WordRow<T>& row,
                                const Window& window, const WordPart& part, const int32_t* bias,
                                int32_t* sums) {
  int32_t starts[static_cast<size_t>(lanes * count)];
  store_starts<lanes, count>(s, end, window, bias, part.taken_off, row.columns, starts);
  WordTaps taps = taps_of_words(s, window, bytes_of_tap<order>(s, row.width));
  taps.channels = part.end - part.first;
  taps.w += part.first / channels_in_row(order) * channels_in_row(order) * row.width;
  const T* const x = first_tap(s, taps, row.x, window) + part.first * s.x_channel;
  word_sums<pair, order, lanes, count, pixels>(s, taps, x, row, starts, sums);
  if (end.beyond != 0) add_beyond<lanes * count, pixels>(s, end, row, window, part, sums);
}

// All parts, limited to 32 bits.
template <Pair pair, WordOrder order, int lanes, int count, int pixels, class T>
static inline void add_parts(const FloatConvShape& s, const WordEnd& end, const WordRow<T>& row,
                             const Window& window, int32_t* sums) {
  constexpr int kCount = lanes * count * pixels;
  const int32_t none[static_cast<size_t>(lanes * count)] = {};
  const int32_t taps = s.axis[0].kernel * s.axis[1].kernel * s.axis[2].kernel;
  int64_t totals[static_cast<size_t>(kCount)] = {};
  WordPart part = {0, end.part, row.taken_off};
  const int32_t* bias = row.bias;
  for (; part.first < s.in; part.first = part.end, part.end += end.part, bias = none) {
    if (part.end > s.in) part.end = s.in;
    sums_of_part<pair, order, lanes, count, pixels>(s, end, row, window, part, bias, sums);
    for (int i = 0; i < kCount; ++i) totals[i] += sums[i];
    part.taken_off += end.corrected * taps * row.columns;
  }
  for (int i = 0; i < kCount; ++i) {
    const int64_t above = totals[i] > INT32_MIN ? totals[i] : INT32_MIN;
    sums[i] = static_cast<int32_t>(above < INT32_MAX ? above : INT32_MAX);
  }
}

template <WordForm form, Pair pair, WordOrder order, int lanes, int count, int pixels, class T>
static inline void word_tile(const FloatConvShape& s, const WordEnd& end, const WordRow<T>& row,
                             const Window& window, int32_t out, WordStarts<lanes * count>& starts) {
  int32_t sums[static_cast<size_t>(lanes * count * pixels)];
  if constexpr (form != WordForm::kParts) {
    if (!knows(starts, window.axis[s.along])) {
      starts.range = window.axis[s.along];
      starts.taps = runs_of_words<order>(s, window, bytes_of_tap<order>(s, row.width));
      store_starts<lanes, count>(s, end, window, row.bias, row.taken_off, row.columns, starts.sums);
    }
    const T* const x = first_tap(s, starts.taps, row.x, window);
    word_sums<pair, order, lanes, count, pixels>(s, starts.taps, x, row, starts.sums, sums);
  } else {
    add_parts<pair, order, lanes, count, pixels>(s, end, row, window, sums);
  }
  const ptrdiff_t y_step = s.axis[s.along].y_step, y_pixel = next_output(s);
  finish_words<form, pixels>(sums, lanes * count, end, row, row.y + out * y_step, y_pixel,
                             s.y_channel);
}

template <WordForm form, Pair pair, WordOrder order, int lanes, int count, class T>
static inline void word_row(const FloatConvShape& s, const WordEnd& end, WordRow<T>& row,
                            Interior interior, Window window) {
#if defined(ETCH_WORD_PAIRS)
  constexpr int kPixels = count > 1 ? 2 : 1;
#else
  constexpr int kSums = lanes == 16 ? 24 : 8;
  constexpr int kPixels = lanes == 1 ? 1 : kSums / count < 8 ? kSums / count : 8;
#endif
  WordStarts<lanes * count> starts;
  starts.range.count = -1;
  for_each_tile<kPixels>(s, interior, window, [&](int32_t out, auto width) {
    word_tile<form, pair, order, lanes, count, decltype(width)::value>(s, end, row, window, out,
                                                                       starts);
  });
  constexpr int kColumns = lanes * count;
  row.w += channels_in_row(order) * kColumns;
  row.taken_off += end.corrected * kColumns;
  row.bias += kColumns;
  row.scale += kColumns;
  row.y += kColumns * s.y_channel;
}

// The columns of a tile: with 16 registers of 8 sums, two vectors of four pixels take the least
// loads that widen weights.
constexpr int kMostColumns = kWordLanes == 8 ? 16 : 4 * kWordLanes;

// The most sums of a vector.
template <WordOrder order>
constexpr int kMostWords = order == WordOrder::kPairs ? kWordLanes : 1;

template <WordForm form, Pair pair, WordOrder order, int lanes, class T>
static inline void word_columns(const FloatConvShape& s, const WordEnd& end, WordRow<T> row,
                                Interior interior, int32_t columns, const Window& window) {
  if constexpr (lanes == kMostWords<order>) {
    constexpr int kCount = kMostColumns / lanes;
    for (; columns >= kCount * lanes; columns -= kCount * lanes)
      word_row<form, pair, order, lanes, kCount>(s, end, row, interior, window);
  }
  for (; columns >= lanes; columns -= lanes)
    word_row<form, pair, order, lanes, 1>(s, end, row, interior, window);
  if constexpr (lanes > 1)
    word_columns<form, pair, order, narrower(lanes)>(s, end, row, interior, columns, window);
}

template <WordForm form, Pair pair, WordOrder order, class T>
static inline void conv_pairs(const FloatConvShape& s, const WordEnd& end, const T* x,
                              const uint8_t* w, const int32_t* taken_off, const int32_t* bias,
                              const int32_t* scale, T* y) {
  const int32_t taps = s.axis[0].kernel * s.axis[1].kernel * s.axis[2].kernel;
  const ptrdiff_t depth = taps * bytes_of_tap<order>(s, 1);
  const ptrdiff_t columns = static_cast<ptrdiff_t>(s.group) * s.out;
  const Interior interior = interior_of(s.axis[s.along], s.transposed);
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      for (int32_t first = 0; first < s.out; first += kPanel) {
        const int32_t width = s.out - first < kPanel ? s.out - first : kPanel;
        const ptrdiff_t column = static_cast<ptrdiff_t>(g) * s.out + first;
        for_each_row(s, [&](ptrdiff_t y_row, const Window& window) {
          const WordRow<T> row{x + n * s.x_image + g * s.in * s.x_channel,
                               w + column * depth,
                               width,
                               taken_off + end.corrected * column,
                               bias + column,
                               scale + column,
                               columns,
                               y + n * s.y_image + column * s.y_channel + y_row};
          word_columns<form, pair, order, kMostWords<order>>(s, end, row, interior, width, window);
        });
      }
    }
  }
}

// Also transposed. `taken_off` has a row of all columns per position of the kernel, part by part.
// Of the two loops generated code, whose shapes are constants, has those that it needs.
template <WordForm form, WordOrder order, class T>
ETCH_INLINE void conv_words(const FloatConvShape& s, const WordEnd& end, const T* x,
                            const uint8_t* w, const int32_t* taken_off, const int32_t* bias,
                            const int32_t* scale, T* y) {
  if (kSideBySide == Pair::kNeighbours && s.x_channel == 1) {
    conv_pairs<form, kSideBySide, order>(s, end, x, w, taken_off, bias, scale, y);
  } else {
    conv_pairs<form, Pair::kApart, order>(s, end, x, w, taken_off, bias, scale, y);
  }
}

}  // namespace rt
}  // namespace etch
