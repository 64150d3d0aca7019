// Vectors of bytes: as many as a register of the target has; where compilers have no vectors there
// is no ETCH_BYTE_VECTOR. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_vector.h"

#if defined(ETCH_FOUR_FLOATS)
#define ETCH_BYTE_VECTOR 1

namespace etch {
namespace rt {

typedef uint8_t ByteVector __attribute__((vector_size(4 * kFloatLanes)));
// The same of 16 bits.
typedef uint16_t HalfVector __attribute__((vector_size(4 * kFloatLanes)));

// The low bits of `value`.
ETCH_INLINE ByteVector repeated_byte(int32_t value) {
  return static_cast<uint8_t>(value) - ByteVector{};
}

// From p on, or with a step of 0 always the first.
ETCH_INLINE ByteVector load_byte_vector(const uint8_t* p, ptrdiff_t step) {
  if (step == 0) return *p - ByteVector{};
  ByteVector v;
  ETCH_MEMCPY(&v, p, sizeof v);
  return v;
}
ETCH_INLINE HalfVector load_half_vector(const void* p, ptrdiff_t step) {
  if (step == 0) {
    uint16_t all;
    ETCH_MEMCPY(&all, p, sizeof all);
    return all - HalfVector{};
  }
  HalfVector v;
  ETCH_MEMCPY(&v, p, sizeof v);
  return v;
}

// All ones where the byte is not 0.
ETCH_INLINE ByteVector truth_of(const ByteVector& bytes) {
  return reinterpret_cast<ByteVector>(bytes != 0);
}
// The same of the bytes from p on as 16 bits each.
ETCH_INLINE HalfVector half_truth(const uint8_t* p, ptrdiff_t step) {
  if (step == 0) {
    const uint16_t all = *p != 0 ? 0xffff : 0;
    return all - HalfVector{};
  }
  typedef uint8_t Bytes __attribute__((vector_size(2 * kFloatLanes)));
  Bytes bytes;
  ETCH_MEMCPY(&bytes, p, sizeof bytes);
  return reinterpret_cast<HalfVector>(__builtin_convertvector(bytes, HalfVector) != 0);
}

}  // namespace rt
}  // namespace etch
#endif
