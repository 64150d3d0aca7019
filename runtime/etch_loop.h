// Loops of the model: counting trips, and the slices of their results. Sizes are literals in
// generated code. C++17, freestanding, no heap, no state. Trips outside of the axis are limited to
// it, so that no number in memory makes a write elsewhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_select.h"

namespace etch {
namespace rt {

static inline void next_trip(int64_t* trip) { *trip = *trip + 1; }

// Slice `trip` of `size` along an axis of y, or the one as far from its end, becomes x: `outer`
// times `bytes` bytes.
static inline void put_slice(const uint8_t* x, const int64_t* trip, uint8_t* y, int outer, int size,
                             int bytes, int reversed) {
  const ptrdiff_t place = position_of(*trip, size);
  const ptrdiff_t slice = reversed != 0 ? size - 1 - place : place;
  for (int i = 0; i < outer; ++i) {
    ETCH_MEMCPY(y + (ptrdiff_t{i} * size + slice) * bytes, x + ptrdiff_t{i} * bytes,
                static_cast<size_t>(bytes));
  }
}

}  // namespace rt
}  // namespace etch
