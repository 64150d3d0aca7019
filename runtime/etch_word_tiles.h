// Tiles of sums of 16-bit activations times 8-bit weights, in 32 bits that wrap: the vectors that
// hold them, and how one step adds a pair of products to each. etch_words.h has what the weights
// and the sums mean. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_products.h"
#include "etch_helium.h"
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

// `lanes` sums.
#if defined(__GNUC__) && defined(__AVX512BW__)
constexpr int kWordLanes = 16;
#elif defined(__GNUC__) && defined(__AVX2__)
constexpr int kWordLanes = 8;
#elif defined(__GNUC__) && (defined(__SSE4_1__) || defined(__ARM_NEON) || defined(__wasm_simd128__))
constexpr int kWordLanes = 4;
#elif defined(__clang__) && defined(__riscv_v) && __riscv_v_min_vlen >= 128
constexpr int kWordLanes = 8;
#define ETCH_WORD_VECTORS 1  // the compiler's own vectors
#else
constexpr int kWordLanes = 1;
#endif
// Cores without vectors that add two products of 16 bits at a time.
#if defined(__GNUC__) && defined(__ARM_FEATURE_SIMD32) && !defined(__ARM_NEON) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ETCH_WORD_PAIRS 1
#endif

template <int lanes>
struct Words
#if defined(ETCH_WORD_VECTORS)
{
  typedef uint32_t Vector __attribute__((vector_size(4 * lanes)));
  Vector v;
}
#endif
;
template <>
struct Words<1> {
  uint32_t v;
};
#if defined(__GNUC__) && defined(__SSE4_1__)
template <>
struct Words<4> {
  __m128i v;
};
#elif defined(__GNUC__) && defined(__ARM_NEON)
template <>
struct Words<4> {
  int32x4_t v;
};
#elif defined(__GNUC__) && defined(__wasm_simd128__)
template <>
struct Words<4> {
  v128_t v;
};
#endif
#if defined(__GNUC__) && defined(__AVX2__)
template <>
struct Words<8> {
  __m256i v;
};
#endif
#if defined(__GNUC__) && defined(__AVX512BW__)
template <>
struct Words<16> {
  __m512i v;
};
#endif

ETCH_INLINE int32_t signed_byte(uint8_t byte) { return static_cast<int32_t>(byte ^ 0x80u) - 128; }

// sum += a pair of x * the pairs of weights from w on; wraps.
ETCH_INLINE void add_pair(Words<1>& sum, int32_t x, const uint8_t* w) {
  const int32_t low = static_cast<int16_t>(x & 0xffff), high = x >> 16;
  sum.v += static_cast<uint32_t>(low * signed_byte(w[0]) + high * signed_byte(w[1]));
}
ETCH_INLINE void subtract(Words<1>& sum, const int32_t* p) { sum.v -= static_cast<uint32_t>(*p); }
#if defined(__GNUC__) && defined(__SSE4_1__)
ETCH_INLINE __m128i in_all_lanes(int32_t x, const Words<4>&) { return _mm_set1_epi32(x); }
ETCH_INLINE __m128i in_all_lanes(int16_t x, const Words<4>&) { return _mm_set1_epi16(x); }
ETCH_INLINE void add_pair(Words<4>& sum, __m128i x, const uint8_t* w) {
  const __m128i pairs = _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(w)));
  sum.v = _mm_add_epi32(sum.v, _mm_madd_epi16(x, pairs));
}
ETCH_INLINE void subtract(Words<4>& sum, const int32_t* p) {
  sum.v = _mm_sub_epi32(sum.v, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
#elif defined(__GNUC__) && defined(__ARM_NEON)
ETCH_INLINE int32x4_t sums_of_pairs(int32x4_t a, int32x4_t b) {
#if defined(__aarch64__)
  return vpaddq_s32(a, b);
#else
  return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)),
                      vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
#endif
}
ETCH_INLINE void add_pair(Words<4>& sum, int32_t x, const uint8_t* w) {
  const int16x8_t pairs = vmovl_s8(vreinterpret_s8_u8(vld1_u8(w)));
  const int16x4_t by = vreinterpret_s16_s32(vdup_n_s32(x));
  sum.v = vaddq_s32(sum.v, sums_of_pairs(vmull_s16(vget_low_s16(pairs), by),
                                         vmull_s16(vget_high_s16(pairs), by)));
}
ETCH_INLINE void subtract(Words<4>& sum, const int32_t* p) {
  sum.v = vsubq_s32(sum.v, vld1q_s32(p));
}
#elif defined(__GNUC__) && defined(__wasm_simd128__)
ETCH_INLINE void add_pair(Words<4>& sum, int32_t x, const uint8_t* w) {
  sum.v = wasm_i32x4_add(sum.v, wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(w), wasm_i32x4_splat(x)));
}
ETCH_INLINE void subtract(Words<4>& sum, const int32_t* p) {
  sum.v = wasm_i32x4_sub(sum.v, wasm_v128_load(p));
}
#elif defined(ETCH_WORD_VECTORS)
template <int lanes>
ETCH_INLINE void add_pair(Words<lanes>& sum, int32_t x, const uint8_t* w) {
  typedef int8_t Bytes __attribute__((vector_size(2 * lanes)));
  typedef int16_t Halves __attribute__((vector_size(4 * lanes)));
  typedef int32_t Pairs __attribute__((vector_size(4 * lanes)));
  typedef typename Words<lanes>::Vector Vector;
  Bytes bytes;
  ETCH_MEMCPY(&bytes, w, sizeof bytes);
  const Halves halves = __builtin_convertvector(bytes, Halves);
  Pairs pairs;
  ETCH_MEMCPY(&pairs, &halves, sizeof pairs);
  const auto low = static_cast<uint32_t>(static_cast<int16_t>(x & 0xffff));
  sum.v += reinterpret_cast<Vector>((pairs << 16) >> 16) * low;
  sum.v += reinterpret_cast<Vector>(pairs >> 16) * static_cast<uint32_t>(x >> 16);
}
template <int lanes>
ETCH_INLINE void subtract(Words<lanes>& sum, const int32_t* p) {
  typename Words<lanes>::Vector v;
  ETCH_MEMCPY(&v, p, sizeof v);
  sum.v -= v;
}
#endif
#if defined(__GNUC__) && defined(__AVX2__)
ETCH_INLINE __m256i in_all_lanes(int32_t x, const Words<8>&) { return _mm256_set1_epi32(x); }
ETCH_INLINE __m256i in_all_lanes(int16_t x, const Words<8>&) { return _mm256_set1_epi16(x); }
ETCH_INLINE void add_pair(Words<8>& sum, __m256i x, const uint8_t* w) {
  const __m256i pairs = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
  sum.v = _mm256_add_epi32(sum.v, _mm256_madd_epi16(x, pairs));
}
ETCH_INLINE void subtract(Words<8>& sum, const int32_t* p) {
  sum.v = _mm256_sub_epi32(sum.v, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
#endif
#if defined(__GNUC__) && defined(__AVX512BW__)
ETCH_INLINE __m512i in_all_lanes(int32_t x, const Words<16>&) { return _mm512_set1_epi32(x); }
ETCH_INLINE __m512i in_all_lanes(int16_t x, const Words<16>&) { return _mm512_set1_epi16(x); }
ETCH_INLINE void add_pair(Words<16>& sum, __m512i x, const uint8_t* w) {
  const __m512i pairs =
      _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w)));
  sum.v = _mm512_add_epi32(sum.v, _mm512_madd_epi16(x, pairs));
}
ETCH_INLINE void subtract(Words<16>& sum, const int32_t* p) {
  sum.v = _mm512_sub_epi32(sum.v, _mm512_loadu_si512(p));
}
#endif

template <int lanes>
ETCH_INLINE Words<lanes> load_words(const int32_t* p) {
  if constexpr (lanes == 1) {
    return {static_cast<uint32_t>(*p)};  // copies would be byte by byte on strictly aligned cores
  } else {
    Words<lanes> out;
    ETCH_MEMCPY(&out, p, sizeof out);
    return out;
  }
}

// `count` neighbouring vectors, and so many for each of `pixels`. Nested, to stay in registers.
template <int lanes, int count>
struct WordColumns {
  Words<lanes> first;
  WordColumns<lanes, count - 1> rest;
};
template <int lanes>
struct WordColumns<lanes, 1> {
  Words<lanes> first;
};
template <int lanes, int count, int pixels>
struct WordTile {
  WordColumns<lanes, count> first;
  WordTile<lanes, count, pixels - 1> rest;
};
template <int lanes, int count>
struct WordTile<lanes, count, 1> {
  WordColumns<lanes, count> first;
};

template <int lanes, int count>
ETCH_INLINE void start(WordColumns<lanes, count>& x, const int32_t* bias) {
  x.first = load_words<lanes>(bias);
  if constexpr (count > 1) start(x.rest, bias + lanes);
}
template <int lanes, int count>
ETCH_INLINE void subtract(WordColumns<lanes, count>& x, const int32_t* p) {
  subtract(x.first, p);
  if constexpr (count > 1) subtract(x.rest, p + lanes);
}

// How the weights of four neighbouring columns for one pair of channels follow each other.
enum class WordOrder {
  kPairs,   // both of a column, then both of the next
  kFours,   // of two columns the first of both, then the second of both
  kEights,  // of eight channels instead of two: all of a column, then all of the next
};

// Channels in a row of packed weights.
constexpr int channels_in_row(WordOrder order) { return order == WordOrder::kEights ? 8 : 2; }

// ---- eight channels ----

// As 16 bits each, uint16 less 32768, and those after the first n any value; the same number of
// weights, which are 0 there.
#if defined(ETCH_HELIUM)
typedef int16x8_t EightWords;
ETCH_INLINE EightWords eight_words(const void* x, int32_t n, int32_t flip) {
  const auto* const words = static_cast<const int16_t*>(x);
  const EightWords all =
      n >= 8 ? vld1q_s16(words) : vld1q_z_s16(words, vctp16q(static_cast<uint32_t>(n)));
  return flip == 0 ? all : veorq_s16(all, vdupq_n_s16(INT16_MIN));
}
ETCH_INLINE EightWords eight_weights(const uint8_t* w) {
  return vldrbq_s16(static_cast<const int8_t*>(static_cast<const void*>(w)));
}
ETCH_INLINE void add_eight(Words<1>& sum, EightWords x, EightWords w) {
  sum.v = static_cast<uint32_t>(vmladavaq_s16(static_cast<int32_t>(sum.v), x, w));
}
#else
struct EightWords {
  int16_t v[8];
};
ETCH_INLINE EightWords eight_words(const void* x, int32_t n, int32_t flip) {
  EightWords out = {};
  ETCH_MEMCPY(&out, x, n < 8 ? 2 * static_cast<size_t>(n) : sizeof out);
  for (int16_t& each : out.v) each = static_cast<int16_t>(each ^ flip);
  return out;
}
ETCH_INLINE EightWords eight_weights(const uint8_t* w) {
  EightWords out;
  for (int i = 0; i < 8; ++i) out.v[i] = static_cast<int16_t>(signed_byte(w[i]));
  return out;
}
ETCH_INLINE void add_eight(Words<1>& sum, const EightWords& x, const EightWords& w) {
  for (int i = 0; i < 8; ++i) sum.v += static_cast<uint32_t>(x.v[i] * w.v[i]);
}
#endif

// Of `count` neighbouring columns.
template <int count>
struct EightColumns {
  EightWords first;
  EightColumns<count - 1> rest;
};
template <>
struct EightColumns<1> {
  EightWords first;
};
template <int count>
ETCH_INLINE void load(EightColumns<count>& out, const uint8_t* w) {
  out.first = eight_weights(w);
  if constexpr (count > 1) load(out.rest, w + 8);
}
template <int count>
ETCH_INLINE void add_columns(WordColumns<1, count>& sums, const EightWords& x,
                             const EightColumns<count>& w) {
  add_eight(sums.first, x, w.first);
  if constexpr (count > 1) add_columns(sums.rest, x, w.rest);
}
// n of the channels are there, or more.
template <int count, int pixels, class T>
ETCH_INLINE void add_eights(WordTile<1, count, pixels>& tile, const T* x, ptrdiff_t x_pixel,
                            int32_t n, const EightColumns<count>& w) {
  constexpr int32_t flip = T{0} < static_cast<T>(-1) ? 0x8000 : 0;
  add_columns(tile.first, eight_words(x, n, flip), w);
  if constexpr (pixels > 1) add_eights(tile.rest, x + x_pixel, x_pixel, n, w);
}

// ---- pairs of channels ----

// Two columns in the order kFours: each second byte, widened, is what SMLAD takes. g++ 12 takes
// two instructions for each SXTB16 that is written as C++.
ETCH_INLINE void add_pair(Words<1>& a, Words<1>& b, int32_t x, const uint8_t* w) {
#if defined(ETCH_WORD_PAIRS)
  uint32_t bytes;
  ETCH_MEMCPY(&bytes, w, sizeof bytes);
  int32_t of_a, of_b;
  __asm__("sxtb16 %0, %1" : "=r"(of_a) : "r"(bytes));
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(of_b) : "r"(bytes));
  a.v = static_cast<uint32_t>(__smlad(x, of_a, static_cast<int32_t>(a.v)));
  b.v = static_cast<uint32_t>(__smlad(x, of_b, static_cast<int32_t>(b.v)));
#else
  const uint8_t of_a[] = {w[0], w[2]}, of_b[] = {w[1], w[3]};
  add_pair(a, x, of_a);
  add_pair(b, x, of_b);
#endif
}
template <WordOrder order, int lanes, int count, class X>
ETCH_INLINE void add_pair(WordColumns<lanes, count>& sums, const X& x, const uint8_t* w) {
  if constexpr (order == WordOrder::kFours && count > 1) {
    add_pair(sums.first, sums.rest.first, x, w);
    if constexpr (count > 2) add_pair<order>(sums.rest.rest, x, w + 4);
  } else {
    add_pair(sums.first, x, w);
    if constexpr (count > 1) add_pair<order>(sums.rest, x, w + 2 * lanes);
  }
}
template <int lanes, int count, int pixels>
ETCH_INLINE void repeat(WordTile<lanes, count, pixels>& tile,
                        const WordColumns<lanes, count>& each) {
  tile.first = each;
  if constexpr (pixels > 1) repeat(tile.rest, each);
}

// Which channels are a pair: c and c + 1 wherever they are or side by side in memory, or c alone.
enum class Pair { kApart, kNeighbours, kOne };
// What pairs are where channels are side by side: one load, if that is one instruction.
#if defined(ETCH_WORD_PAIRS) || (defined(__GNUC__) && defined(__SSE4_1__))
constexpr Pair kSideBySide = Pair::kNeighbours;
#else
constexpr Pair kSideBySide = Pair::kApart;
#endif

// A pair as int16 in the low and high half: uint16 less 32768.
template <Pair pair, class T>
ETCH_INLINE int32_t pair_of(const T* x, ptrdiff_t x_channel) {
  constexpr int32_t flip = T{0} < static_cast<T>(-1) ? 0x8000 : 0;
  if constexpr (pair == Pair::kNeighbours) {
    uint32_t words;
    ETCH_MEMCPY(&words, x, sizeof words);
    return static_cast<int32_t>(words ^ (static_cast<uint32_t>(flip) * 0x10001u));
  }
  const auto low = static_cast<uint32_t>(static_cast<uint16_t>(x[0]) ^ flip);
  if constexpr (pair == Pair::kOne) return static_cast<int32_t>(low & 0xffffu);
  const auto high = static_cast<uint32_t>(static_cast<uint16_t>(x[x_channel]) ^ flip);
  return static_cast<int32_t>((low & 0xffffu) | (high << 16));
}

// The same as add_pair() takes it for sums like `like`: on x86 in all lanes, where that is no more
// than a load. One without a neighbour is there twice, as its second weight is 0.
template <Pair pair, class T, class Like>
ETCH_INLINE auto spread_pair(const T* x, ptrdiff_t x_channel, [[maybe_unused]] const Like& like) {
#if defined(__GNUC__) && defined(__SSE4_1__)
  if constexpr (sizeof like > sizeof(int32_t) && pair == Pair::kApart) {
    return in_all_lanes(pair_of<pair>(x, x_channel), like);
  } else if constexpr (sizeof like > sizeof(int32_t)) {
    constexpr int16_t kFlip = T{0} < static_cast<T>(-1) ? INT16_MIN : 0;
    if constexpr (pair == Pair::kOne) {
      const auto one = static_cast<int16_t>(*x);
      return in_all_lanes(one, like) ^ in_all_lanes(kFlip, like);
    } else {
      int32_t both;
      ETCH_MEMCPY(&both, x, sizeof both);
      return in_all_lanes(both, like) ^ in_all_lanes(kFlip, like);
    }
  } else
#endif
  {
    return pair_of<pair>(x, x_channel);
  }
}

template <Pair pair, WordOrder order, int lanes, int count, int pixels, class T>
ETCH_INLINE void add_pairs(WordTile<lanes, count, pixels>& tile, const T* x, ptrdiff_t x_pixel,
                           ptrdiff_t x_channel, const uint8_t* w) {
  add_pair<order>(tile.first, spread_pair<pair>(x, x_channel, tile.first.first), w);
  if constexpr (pixels > 1) add_pairs<pair, order>(tile.rest, x + x_pixel, x_pixel, x_channel, w);
}

}  // namespace rt
}  // namespace etch
