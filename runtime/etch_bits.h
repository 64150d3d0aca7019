// Bits of integers, element by element: and, or, exclusive or, shifts. C++17, freestanding, no
// heap, no state; the loops are those of etch_elementwise.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_elementwise.h"

namespace etch {
namespace rt {

struct BitAnd {
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    return a & b;
  }
};
template <>
struct IntegerVectors<BitAnd> {
  enum { value = 1, wraps = 0 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    return a & b;
  }
};

struct BitOr {
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    return a | b;
  }
};
template <>
struct IntegerVectors<BitOr> {
  enum { value = 1, wraps = 0 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    return a | b;
  }
};

struct BitXor {
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    return a ^ b;
  }
};
template <>
struct IntegerVectors<BitXor> {
  enum { value = 1, wraps = 0 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    return a ^ b;
  }
};

static inline uint32_t bits_of_int(int32_t value) { return static_cast<uint32_t>(value); }
static inline uint64_t bits_of_int(int64_t value) { return static_cast<uint64_t>(value); }

// Bits move out of the integer; by its width, more, or less than 0 all of them. From below come
// zeros, from above copies of the sign.
struct ShiftLeft {
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    const bool inside = b >= 0 && b < static_cast<Int>(8 * sizeof(Int));
    return inside ? static_cast<Int>(bits_of_int(a) << b) : Int{0};
  }
};

struct ShiftRight {
  template <class Int>
  ETCH_INLINE Int of(Int a, Int b) {
    const bool inside = b >= 0 && b < static_cast<Int>(8 * sizeof(Int));
    const Int size = a < 0 ? ~a : a;
    const Int moved = inside ? static_cast<Int>(bits_of_int(size) >> b) : Int{0};
    return a < 0 ? ~moved : moved;
  }
};

}  // namespace rt
}  // namespace etch
