// The part of the tiny runtime that copies elements which are not in dense rows: spread over
// memory, picked through a table of positions, or mapped through a table of 256 bytes. Everything
// counts bytes; sizes and steps are literals in generated code, so that compilers see plain loops.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

#if defined(__SSE2__) && defined(__AVX__)
#include "etch_intrinsics.h"
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace etch {
namespace rt {

// Copies n elements of `size` bytes.
static inline void copy_spread(const uint8_t* x, ptrdiff_t x_step, uint8_t* y, ptrdiff_t y_step,
                               int size, int n) {
  for (int i = 0; i < n; ++i)
    ETCH_MEMCPY(y + i * y_step, x + i * x_step, static_cast<size_t>(size));
}

// Copies n neighbouring bytes, so many that a call does not count.
static inline void copy_block(const uint8_t* x, uint8_t* y, int n) {
  ETCH_MEMCPY(y, x, static_cast<size_t>(n));
}

// Copies n neighbouring bytes, 16 after 16 in ascending order, for cores that load words from any
// place.
static inline void copy_run(const uint8_t* x, uint8_t* y, int n) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_MVE)
  for (const uint8_t* const end = x + (n & ~15); x != end;) {
    __asm__ volatile("vldrb.8 q0, [%0], #16\n\tvstrb.8 q0, [%1], #16"
                     : "+r"(x), "+r"(y)
                     :
                     : "q0", "memory");
  }
#else
  for (const uint8_t* const end = x + (n & ~15); x != end; x += 16, y += 16) {
    uint32_t a, b, c, d;  // an array would be on the stack
    ETCH_MEMCPY(&a, x, sizeof a);
    ETCH_MEMCPY(&b, x + 4, sizeof b);
    ETCH_MEMCPY(&c, x + 8, sizeof c);
    ETCH_MEMCPY(&d, x + 12, sizeof d);
    ETCH_MEMCPY(y, &a, sizeof a);
    ETCH_MEMCPY(y + 4, &b, sizeof b);
    ETCH_MEMCPY(y + 8, &c, sizeof c);
    ETCH_MEMCPY(y + 12, &d, sizeof d);
  }
#endif
  for (const uint8_t* const end = x + (n & 12); x != end; x += 4, y += 4) ETCH_MEMCPY(y, x, 4);
  for (const uint8_t* const end = x + (n & 3); x != end;) *y++ = *x++;
}

// The same with the bits of `flip` inverted in every byte.
static inline void flip_run(const uint8_t* x, uint8_t* y, int n, int flip) {
#if defined(__GNUC__)  // gcc makes no vectors of loops in files of steps for Helium
  typedef uint8_t Bytes __attribute__((vector_size(16)));
  const Bytes flips = static_cast<uint8_t>(flip) - Bytes{};
  for (; n >= 16; n -= 16, x += 16, y += 16) {
    Bytes each;
    ETCH_MEMCPY(&each, x, sizeof each);
    each ^= flips;
    ETCH_MEMCPY(y, &each, sizeof each);
  }
#endif
  for (; n > 0; --n) *y++ = static_cast<uint8_t>(*x++ ^ flip);
}

// Eight bytes of one element of 1, 2, 4 or 8 bytes after another.
static inline uint64_t repeated_word(const uint8_t* x, int size) {
  uint16_t two;
  uint32_t four;
  uint64_t word;
  switch (size) {
    case 1:
      return *x * uint64_t{0x0101010101010101u};
    case 2:
      ETCH_MEMCPY(&two, x, sizeof two);
      return two * uint64_t{0x0001000100010001u};
    case 4:
      ETCH_MEMCPY(&four, x, sizeof four);
      return four * uint64_t{0x0000000100000001u};
    default:
      ETCH_MEMCPY(&word, x, sizeof word);
      return word;
  }
}

// n copies of the one element of 1, 2, 4 or 8 bytes, side by side; the last word may be written
// over some that are there.
static inline void repeat(const uint8_t* x, uint8_t* y, int size, int n) {
  const ptrdiff_t all = ptrdiff_t{size} * n;
  if (all < 8) {
    for (int i = 0; i < n; ++i) ETCH_MEMCPY(y + i * size, x, static_cast<size_t>(size));
    return;
  }
  const uint64_t word = repeated_word(x, size);
  const uint64_t words[2] = {word, word};
  for (ptrdiff_t i = 0; i + 16 <= all; i += 16) ETCH_MEMCPY(y + i, words, 16);
  if ((all & 8) != 0) ETCH_MEMCPY(y + (all & ~ptrdiff_t{15}), words, 8);
  ETCH_MEMCPY(y + all - 8, words, 8);
}

#if defined(__SSE2__)
// The first half of x, and the second, with every element of 1, 2 or 4 bytes twice.
static inline __m128i low_twice(__m128i x, int size) {
  if (size == 4) return _mm_unpacklo_epi32(x, x);
  return size == 2 ? _mm_unpacklo_epi16(x, x) : _mm_unpacklo_epi8(x, x);
}
static inline __m128i high_twice(__m128i x, int size) {
  if (size == 4) return _mm_unpackhi_epi32(x, x);
  return size == 2 ? _mm_unpackhi_epi16(x, x) : _mm_unpackhi_epi8(x, x);
}
#endif

// The beginning of repeat_each() that is done in vectors: how many elements.
static inline int repeat_vectors(const uint8_t* x, uint8_t* y, int size, int times, int n) {
#if defined(__SSE2__)
  if (times != 2 || size > 4) return 0;
  const int count = 16 / size;
  int i = 0;
  for (; i + count <= n; i += count, x += 16, y += 32) {
    const __m128i each = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), low_twice(each, size));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + 16), high_twice(each, size));
  }
  return i;
#else
  (void)x, (void)y, (void)size, (void)times, (void)n;
  return 0;
#endif
}

// repeat() of n elements side by side.
static inline void repeat_each(const uint8_t* x, uint8_t* y, int size, int times, int n) {
  const ptrdiff_t done = repeat_vectors(x, y, size, times, n);
  x += done * size;
  y += done * size * times;
  for (ptrdiff_t left = n - done; left > 0; --left, x += size, y += size * times)
    repeat(x, y, size, times);
}

// y[i * y_step] = table[x[i * x_step]]
static inline void lookup_spread(const uint8_t* x, ptrdiff_t x_step, uint8_t* y, ptrdiff_t y_step,
                                 const uint8_t* table, int n) {
  for (int i = 0; i < n; ++i) y[i * y_step] = table[x[i * x_step]];
}

// Four loops, the last innermost. The positions in x are those of the loops added up: first n[0]
// entries of the table for the first loop, then n[1] for the second, and so on. Of the last loop
// those from `run` on, `run_count` of them, are side by side in x and in y.
struct Picked {
  int32_t n[4];
  ptrdiff_t y_step[4];
  int32_t size;  // bytes of one element, or of a dense row of them
  int32_t run = 0, run_count = 0;
};

static inline void pick(const uint8_t* x, uint8_t* y, const int32_t* table, Picked p) {
  const int32_t* const second = table + p.n[0];
  const int32_t* const third = second + p.n[1];
  const int32_t* const fourth = third + p.n[2];
  for (int i = 0; i < p.n[0]; ++i) {
    for (int j = 0; j < p.n[1]; ++j) {
      for (int k = 0; k < p.n[2]; ++k) {
        const uint8_t* const from = x + table[i] + second[j] + third[k];
        uint8_t* const to = y + i * p.y_step[0] + j * p.y_step[1] + k * p.y_step[2];
        const auto pick_some = [=](int first, int last) {
          for (int l = first; l < last; ++l)
            ETCH_MEMCPY(to + l * p.y_step[3], from + fourth[l], static_cast<size_t>(p.size));
        };
        pick_some(0, p.run);
        if (p.run_count > 0) {
          ETCH_MEMCPY(to + p.run * p.y_step[3], from + fourth[p.run],
                      static_cast<size_t>(p.run_count) * static_cast<size_t>(p.size));
        }
        pick_some(p.run + p.run_count, p.n[3]);
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
