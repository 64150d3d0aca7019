// How integers of tensors are kept in memory. C++17, freestanding, no heap, no state.
#pragma once

#include <stdint.h>

namespace etch {
namespace rt {

// How a tensor of 8-bit integers is kept: value = (byte ^ flip) - offset. uint8 is {0, 0}, int8
// {128, 128}, and an int8 that is kept as uint8 {0, 128}. Wider integers are kept as they are.
struct Stored {
  int32_t flip;
  int32_t offset;
};

static inline int32_t value_of(uint8_t byte, Stored as) { return (byte ^ as.flip) - as.offset; }
static inline int32_t value_of(uint16_t value, Stored) { return value; }
static inline int32_t value_of(int16_t value, Stored) { return value; }
static inline int32_t value_of(int32_t value, Stored) { return value; }

// The low bits of `value`, kept as T.
template <class T>
static inline T keep(int32_t value, Stored as) {
  return static_cast<T>((value + as.offset) ^ as.flip);
}

}  // namespace rt
}  // namespace etch
