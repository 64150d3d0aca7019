// The part of the tiny runtime that is called for whole rows: filling of halos and what is chosen
// between byte tables. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "etch_float.h"

namespace etch {
namespace rt {

// y[0 .. n-1] = value.
static inline void fill(uint8_t* y, int value, int n) { memset(y, value, static_cast<size_t>(n)); }

// z[i] = condition[i * condition_step] ? a_table[a[i * a_step]] : b_table[b[i * b_step]]; a step of
// 0 repeats one element.
static inline void choose(const uint8_t* condition, ptrdiff_t condition_step, const uint8_t* a,
                          ptrdiff_t a_step, const uint8_t* a_table, const uint8_t* b,
                          ptrdiff_t b_step, const uint8_t* b_table, uint8_t* z, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const bool first = condition[i * condition_step] != 0;
    z[i] = first ? a_table[a[i * a_step]] : b_table[b[i * b_step]];
  }
}

}  // namespace rt
}  // namespace etch
