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
