// The part of the tiny runtime that copies elements which are not in dense rows: spread over
// memory, picked through a table of positions, or mapped through a table of 256 bytes. Everything
// counts bytes; sizes and steps are literals in generated code, so that compilers see plain loops.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"

namespace etch {
namespace rt {

// Copies n elements of `size` bytes.
static inline void copy_spread(const uint8_t* x, ptrdiff_t x_step, uint8_t* y, ptrdiff_t y_step,
                               int size, int n) {
  for (int i = 0; i < n; ++i)
    ETCH_MEMCPY(y + i * y_step, x + i * x_step, static_cast<size_t>(size));
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

// y[i * y_step] = table[x[i * x_step]]
static inline void lookup_spread(const uint8_t* x, ptrdiff_t x_step, uint8_t* y, ptrdiff_t y_step,
                                 const uint8_t* table, int n) {
  for (int i = 0; i < n; ++i) y[i * y_step] = table[x[i * x_step]];
}

// Four loops, the last innermost. The positions in x are those of the loops added up: first n[0]
// entries of the table for the first loop, then n[1] for the second, and so on.
struct Picked {
  int32_t n[4];
  ptrdiff_t y_step[4];
  int32_t size;  // bytes of one element, or of a dense row of them
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
        for (int l = 0; l < p.n[3]; ++l)
          ETCH_MEMCPY(to + l * p.y_step[3], from + fourth[l], static_cast<size_t>(p.size));
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
