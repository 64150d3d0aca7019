// What vocabularies do lane by lane: verbs for which a CPU has no instruction and which no network
// for it asks for often, and loads and stores of less than a word. Vectors are the structs of a
// vocabulary and go through memory, so a vocabulary says no more than their types. Included by
// vocab.h alone, or by what several of them share. Functions are static: files for different
// instruction sets can be linked together.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_float.h"  // exact fma, macros; also refuses -ffast-math
#include "etch_integer.h"

namespace etch {
namespace by_lanes {

// n < 8 bytes as the low bytes of a word, the rest 0.
ETCH_INLINE uint64_t load_word_n(const uint8_t* p, int n) {
  uint64_t word = 0;
  int at = 0;
  if ((n & 4) != 0) {
    uint32_t four;
    ETCH_MEMCPY(&four, p, sizeof four);
    word = four;
    at = 4;
  }
  if ((n & 2) != 0) {
    uint16_t two;
    ETCH_MEMCPY(&two, p + at, sizeof two);
    word |= static_cast<uint64_t>(two) << (8 * at);
    at += 2;
  }
  if ((n & 1) != 0) word |= static_cast<uint64_t>(p[at]) << (8 * at);
  return word;
}

// The low n < 8 bytes of a word.
ETCH_INLINE void store_word_n(uint8_t* p, uint64_t word, int n) {
  if ((n & 4) != 0) {
    const uint32_t four = static_cast<uint32_t>(word);
    ETCH_MEMCPY(p, &four, sizeof four);
    p += 4;
    word >>= 32;
  }
  if ((n & 2) != 0) {
    const uint16_t two = static_cast<uint16_t>(word);
    ETCH_MEMCPY(p, &two, sizeof two);
    p += 2;
    word >>= 16;
  }
  if ((n & 1) != 0) *p = static_cast<uint8_t>(word);
}

// The bytes of a vector as they are in memory.
template <class Vector>
struct Stored {
  uint8_t at[sizeof(Vector)];
};
template <class Vector>
ETCH_INLINE Stored<Vector> stored(Vector v) {
  Stored<Vector> out;
  ETCH_MEMCPY(out.at, &v, sizeof v);
  return out;
}

template <class I32, class Bytes>
ETCH_INLINE I32 dot_squares(I32 acc, Bytes x, Bytes w) {
  int32_t sum[sizeof(I32) / sizeof(int32_t)];
  ETCH_MEMCPY(sum, &acc, sizeof sum);
  const Stored<Bytes> xs = stored(x), ws = stored(w);
  rt::dot_squares(sum, xs.at, ws.at, static_cast<int32_t>(sizeof sum / sizeof *sum));
  ETCH_MEMCPY(&acc, sum, sizeof acc);
  return acc;
}

template <class Bytes>
ETCH_INLINE Bytes repeat4(const uint8_t* x) {
  Stored<Bytes> each;
  for (size_t c = 0; c < sizeof(Bytes); c += 4) ETCH_MEMCPY(each.at + c, x, 4);
  Bytes out;
  ETCH_MEMCPY(&out, each.at, sizeof out);
  return out;
}

// The int32 that these bytes are.
ETCH_INLINE ptrdiff_t place_at(const uint8_t* at) {
  int32_t place;
  ETCH_MEMCPY(&place, at, sizeof place);
  return place;
}

template <class I32, class Bytes>
ETCH_INLINE I32 dot_sums16(I32 acc, Bytes x, Bytes w) {
  int32_t sum[sizeof(I32) / sizeof(int32_t)];
  ETCH_MEMCPY(sum, &acc, sizeof sum);
  const Stored<Bytes> xs = stored(x), ws = stored(w);
  for (size_t b = 0; b < sizeof(Bytes); ++b) {
    const int32_t product = xs.at[b] * static_cast<int8_t>(ws.at[b]);
    const uint32_t both = static_cast<uint32_t>(sum[b / 4]) + static_cast<uint32_t>(product);
    sum[b / 4] = static_cast<int32_t>(both);
  }
  ETCH_MEMCPY(&acc, sum, sizeof acc);
  return acc;
}

template <class I32>
ETCH_INLINE I32 shift_to_even(I32 acc, const int32_t* p) {
  constexpr size_t kLanes = sizeof(I32) / sizeof(int32_t);
  int32_t sum[kLanes];
  ETCH_MEMCPY(sum, &acc, sizeof sum);
  for (size_t c = 0; c < kLanes; ++c) sum[c] = rt::shift_to_even(sum[c], p[c], p[kLanes + c]);
  ETCH_MEMCPY(&acc, sum, sizeof acc);
  return acc;
}

template <class I32>
ETCH_INLINE I32 float_product(I32 q, I32 acc, const int32_t* p) {
  int32_t sum[sizeof(I32) / sizeof(int32_t)], result[sizeof(I32) / sizeof(int32_t)];
  ETCH_MEMCPY(sum, &acc, sizeof sum);
  ETCH_MEMCPY(result, &q, sizeof result);
  rt::float_product_lanes(sum, p, result, static_cast<int32_t>(sizeof sum / sizeof *sum));
  ETCH_MEMCPY(&q, result, sizeof q);
  return q;
}

#if defined(__GNUC__)
// Exactly, and out of line, because it is long.
static inline __attribute__((noinline)) void fma_lanes(const float* x, const float* y, float* z,
                                                       int lanes) {
  for (ptrdiff_t i = 0; i < lanes; ++i) z[i] = rt::fma_exact(x[i], y[i], z[i]);
}
template <class F32>
ETCH_INLINE F32 fma_f32(F32 a, F32 b, F32 c) {
  float x[sizeof(F32) / sizeof(float)];
  float y[sizeof(F32) / sizeof(float)];
  float z[sizeof(F32) / sizeof(float)];
  ETCH_MEMCPY(x, &a, sizeof x);
  ETCH_MEMCPY(y, &b, sizeof y);
  ETCH_MEMCPY(z, &c, sizeof z);
  fma_lanes(x, y, z, static_cast<int>(sizeof z / sizeof *z));
  ETCH_MEMCPY(&c, z, sizeof c);
  return c;
}
#endif

}  // namespace by_lanes
}  // namespace etch
