// Depthwise convolutions of 16-bit activations: one input and one output channel per group, with
// the sums and the requantization of etch_words.h. Channels are neighbours in x and y, and lanes of
// vectors. Weights are 16-bit words less their zero point, w[position * channels + channel].
// C++17, freestanding, no heap, no state.
#pragma once

#include "etch_words.h"

namespace etch {
namespace rt {

// sum += x * w of neighbouring channels; wraps.
template <class T>
ETCH_INLINE void add_words(Words<1>& sum, const T* x, int32_t flip, const int16_t* w) {
  const int32_t word = static_cast<int16_t>(static_cast<uint16_t>(*x) ^ flip);
  sum.v += static_cast<uint32_t>(word * *w);
}
// The other halves of pairs are 0.
#if defined(__GNUC__) && defined(__SSE4_1__)
template <class T>
ETCH_INLINE void add_words(Words<4>& sum, const T* x, int32_t flip, const int16_t* w) {
  const __m128i words = _mm_xor_si128(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x)),
                                      _mm_set1_epi16(static_cast<int16_t>(flip)));
  const __m128i by = _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(w)));
  sum.v = _mm_add_epi32(sum.v, _mm_madd_epi16(_mm_cvtepu16_epi32(words), by));
}
#endif
#if defined(__GNUC__) && defined(__AVX2__)
template <class T>
ETCH_INLINE void add_words(Words<8>& sum, const T* x, int32_t flip, const int16_t* w) {
  const __m128i words = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)),
                                      _mm_set1_epi16(static_cast<int16_t>(flip)));
  const __m256i by = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
  sum.v = _mm256_add_epi32(sum.v, _mm256_madd_epi16(_mm256_cvtepu16_epi32(words), by));
}
#endif
#if defined(__GNUC__) && defined(__AVX512BW__)
template <class T>
ETCH_INLINE void add_words(Words<16>& sum, const T* x, int32_t flip, const int16_t* w) {
  const __m256i words = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)),
                                         _mm256_set1_epi16(static_cast<int16_t>(flip)));
  const __m512i by =
      _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w)));
  sum.v =
      _mm512_add_epi32(sum.v, _mm512_madd_epi16(_mm512_maskz_cvtepu16_epi32(0xffff, words), by));
}
#endif
#if defined(ETCH_WORD_PAIRS)
// Of two channels, each pair of which is one word of memory.
template <class T>
ETCH_INLINE void add_words(Words<1>& a, Words<1>& b, const T* x, const int16_t* w) {
  const int32_t words = pair_of<Pair::kNeighbours>(x, 1);
  int32_t by;
  ETCH_MEMCPY(&by, w, sizeof by);
  a.v = static_cast<uint32_t>(__smlabb(words, by, static_cast<int32_t>(a.v)));
  b.v = static_cast<uint32_t>(__smlatt(words, by, static_cast<int32_t>(b.v)));
}
#endif
#if defined(__GNUC__) && defined(__ARM_NEON)
template <class T>
ETCH_INLINE void add_words(Words<4>& sum, const T* x, int32_t flip, const int16_t* w) {
  uint16_t words[4];
  ETCH_MEMCPY(words, x, sizeof words);
  const uint16x4_t moved = veor_u16(vld1_u16(words), vdup_n_u16(static_cast<uint16_t>(flip)));
  sum.v = vmlal_s16(sum.v, vreinterpret_s16_u16(moved), vld1_s16(w));
}
#elif defined(__GNUC__) && defined(__wasm_simd128__)
template <class T>
ETCH_INLINE void add_words(Words<4>& sum, const T* x, int32_t flip, const int16_t* w) {
  const v128_t words =
      wasm_v128_xor(wasm_v128_load64_zero(x), wasm_i16x8_splat(static_cast<int16_t>(flip)));
  const v128_t products = wasm_i32x4_extmul_low_i16x8(words, wasm_v128_load64_zero(w));
  sum.v = wasm_i32x4_add(sum.v, products);
}
#elif defined(ETCH_WORD_VECTORS)
template <int lanes, class T>
ETCH_INLINE void add_words(Words<lanes>& sum, const T* x, int32_t flip, const int16_t* w) {
  typedef int16_t Halves __attribute__((vector_size(2 * lanes)));
  typedef int32_t Wide __attribute__((vector_size(4 * lanes)));
  Halves words, by;
  ETCH_MEMCPY(&words, x, sizeof words);
  ETCH_MEMCPY(&by, w, sizeof by);
  words ^= static_cast<int16_t>(flip);
  const Wide products = __builtin_convertvector(words, Wide) * __builtin_convertvector(by, Wide);
  sum.v += reinterpret_cast<typename Words<lanes>::Vector>(products);
}
#endif

template <int lanes, int count, class T>
ETCH_INLINE void add_words(WordColumns<lanes, count>& sums, const T* x, int32_t flip,
                           const int16_t* w) {
#if defined(ETCH_WORD_PAIRS)
  if constexpr (lanes == 1 && count > 1) {
    add_words(sums.first, sums.rest.first, x, w);
    if constexpr (count > 2) add_words(sums.rest.rest, x + 2, flip, w + 2);
    return;
  }
#endif
  add_words(sums.first, x, flip, w);
  if constexpr (count > 1) add_words(sums.rest, x + lanes, flip, w + lanes);
}
template <int lanes, int count, int pixels, class T>
ETCH_INLINE void add_words(WordTile<lanes, count, pixels>& tile, const T* x, ptrdiff_t x_pixel,
                           int32_t flip, const int16_t* w) {
  add_words(tile.first, x, flip, w);
  if constexpr (pixels > 1) add_words(tile.rest, x + x_pixel, x_pixel, flip, w);
}

template <WordForm form, int lanes, int count, int pixels, class T>
static inline void depthwise_word_tile(const FloatConvShape& s, const WordEnd& end,
                                       const WordRow<T>& row, const int16_t* w,
                                       const Window& window, int32_t out,
                                       WordStarts<lanes * count>& starts) {
  const ConvAxis& axis = s.axis[s.along];
  if (!knows(starts, window.axis[s.along])) {
    starts.range = window.axis[s.along];
    starts.taps = taps_of_words(s, window, row.columns);
    store_starts<lanes, count>(s, end, window, row.bias, row.taken_off, row.columns, starts.sums);
  }
  const ptrdiff_t x_pixel = axis.stride * axis.x_step;
  WordTile<lanes, count, pixels> tile;
  begin(tile, starts.sums);
  for_each_tap(starts.taps, first_tap(s, starts.taps, row.x, window), w,
               [&](const T* x, const int16_t* at) { add_words(tile, x, x_pixel, end.flip, at); });
  int32_t sums[static_cast<size_t>(lanes * count * pixels)];
  ETCH_MEMCPY(sums, &tile, sizeof sums);
  finish_words<form, pixels>(sums, lanes * count, end, row, row.y + out * axis.y_step, axis.y_step,
                             1);
}

// `channels` channels of all positions on the axis of tiles.
template <WordForm form, int lanes, int count, class T>
static inline void depthwise_word_channels(const FloatConvShape& s, const WordEnd& end,
                                           WordRow<T> row, const int16_t* w, Interior interior,
                                           int32_t channels, Window window) {
  constexpr int32_t kColumns = lanes * count;
#if defined(ETCH_WORD_PAIRS)
  constexpr int kPixels = 2;
#else
  constexpr int kPixels = lanes > 1 ? 4 : 1;
#endif
  for (; channels >= kColumns; channels -= kColumns) {
    WordStarts<kColumns> starts;
    starts.range.count = -1;
    for_each_tile<kPixels>(s, interior, window, [&](int32_t out, auto width) {
      depthwise_word_tile<form, lanes, count, decltype(width)::value>(s, end, row, w, window, out,
                                                                      starts);
    });
    w += kColumns;
    row.x += kColumns;
    row.taken_off += end.corrected * kColumns;
    row.bias += kColumns;
    row.scale += kColumns;
    row.y += kColumns;
  }
  if constexpr (count > 1) {
    depthwise_word_channels<form, lanes, 1>(s, end, row, w, interior, channels, window);
  } else if constexpr (lanes > 1) {
    depthwise_word_channels<form, narrower(lanes), 1>(s, end, row, w, interior, channels, window);
  }
}

// `taken_off` has a row of all channels per position of the kernel.
template <WordForm form, class T>
static inline void depthwise_words(const FloatConvShape& s, const WordEnd& end, const T* x,
                                   const int16_t* w, const int32_t* taken_off, const int32_t* bias,
                                   const int32_t* scale, T* y) {
  constexpr int kCount = kWordLanes > 1 ? 2 : 4;
  const Interior interior = interior_of(s.axis[s.along], false);
  for (int32_t n = 0; n < s.batch; ++n) {
    for_each_row(s, [&](ptrdiff_t y_row, const Window& window) {
      const WordRow<T> row{
          x + n * s.x_image,        nullptr, s.group, taken_off, bias, scale, s.group,
          y + n * s.y_image + y_row};
      depthwise_word_channels<form, kWordLanes, kCount>(s, end, row, w, interior, s.group, window);
    });
  }
}

}  // namespace rt
}  // namespace etch
