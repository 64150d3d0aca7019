// A hint to the processor: weights that a step will need soon, while it computes with others.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace etch {
namespace rt {

// The line of memory as far after `ahead` as `at` is after `start`, and `distance` bytes more. It
// may be beyond the end of an array, so it is not computed as a pointer; nothing is read.
static inline void prefetch(const uint8_t* ahead, const uint8_t* start, const uint8_t* at,
                            ptrdiff_t distance) {
#if defined(__GNUC__)
  const uintptr_t line = reinterpret_cast<uintptr_t>(ahead) +
                         (reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(start)) +
                         static_cast<uintptr_t>(distance);
  __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 2);
#else
  (void)ahead;
  (void)start;
  (void)at;
  (void)distance;
#endif
}

}  // namespace rt
}  // namespace etch
