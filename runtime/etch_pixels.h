// Pixels of two and three bytes, as images have them, to planes and back, where there are shuffles
// of bytes. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX__)
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

// Which bytes of three vectors make three others; 255: none. Pixels are three bytes each.
struct Thirds {
  uint8_t pixels[9][16];  // [3 * part + plane]
  uint8_t planes[9][16];  // [3 * plane + part]
};
static constexpr Thirds make_thirds() {
  Thirds out = {};
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int i = 0; i < 16; ++i) {
        const int in_pixels = 16 * a + i, in_planes = 3 * i + a;
        out.pixels[3 * a + b][i] = static_cast<uint8_t>(in_pixels % 3 == b ? in_pixels / 3 : 255);
        out.planes[3 * a + b][i] = static_cast<uint8_t>(in_planes / 16 == b ? in_planes % 16 : 255);
      }
    }
  }
  return out;
}

// 16 bytes of three times 16, by three rows of a table.
static inline __m128i third_of(__m128i a, __m128i b, __m128i c, const uint8_t (*table)[16]) {
  const auto bytes = [table](int row) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(table[row]));
  };
  return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, bytes(0)), _mm_shuffle_epi8(b, bytes(1))),
                      _mm_shuffle_epi8(c, bytes(2)));
}
static inline __m128i load_plane(const uint8_t* x, __m128i flip) {
  return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)), flip);
}
static inline void store_plane(uint8_t* y, __m128i bytes) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
}

// Three planes to pixels side by side, or back: 16 at a time; returns how many are done.
static inline int pixels_of_planes(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, int n, int flip) {
  static constexpr Thirds kThirds = make_thirds();
  const __m128i all = _mm_set1_epi8(static_cast<char>(flip));
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m128i a = load_plane(x + i, all), b = load_plane(x + x_row + i, all);
    const __m128i c = load_plane(x + 2 * x_row + i, all);
    store_plane(y + 3 * i, third_of(a, b, c, kThirds.pixels));
    store_plane(y + 3 * i + 16, third_of(a, b, c, kThirds.pixels + 3));
    store_plane(y + 3 * i + 32, third_of(a, b, c, kThirds.pixels + 6));
  }
  return i;
}
static inline int planes_of_pixels(const uint8_t* x, uint8_t* y, ptrdiff_t y_row, int n, int flip) {
  static constexpr Thirds kThirds = make_thirds();
  const __m128i all = _mm_set1_epi8(static_cast<char>(flip));
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m128i a = load_plane(x + 3 * i, all), b = load_plane(x + 3 * i + 16, all);
    const __m128i c = load_plane(x + 3 * i + 32, all);
    store_plane(y + i, third_of(a, b, c, kThirds.planes));
    store_plane(y + y_row + i, third_of(a, b, c, kThirds.planes + 3));
    store_plane(y + 2 * y_row + i, third_of(a, b, c, kThirds.planes + 6));
  }
  return i;
}

// The same of two planes and pairs.
static inline int pairs_of_planes(const uint8_t* x, ptrdiff_t x_row, uint8_t* y, int n, int flip) {
  const __m128i all = _mm_set1_epi8(static_cast<char>(flip));
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m128i a = load_plane(x + i, all), b = load_plane(x + x_row + i, all);
    store_plane(y + 2 * i, _mm_unpacklo_epi8(a, b));
    store_plane(y + 2 * i + 16, _mm_unpackhi_epi8(a, b));
  }
  return i;
}
static inline int planes_of_pairs(const uint8_t* x, uint8_t* y, ptrdiff_t y_row, int n, int flip) {
  const __m128i all = _mm_set1_epi8(static_cast<char>(flip)), first = _mm_set1_epi16(255);
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m128i a = load_plane(x + 2 * i, all), b = load_plane(x + 2 * i + 16, all);
    store_plane(y + i, _mm_packus_epi16(_mm_and_si128(a, first), _mm_and_si128(b, first)));
    store_plane(y + y_row + i, _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
  }
  return i;
}

}  // namespace rt
}  // namespace etch
#endif
