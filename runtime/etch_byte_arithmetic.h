// Arithmetic on 8-bit integers in whatever form they are kept (Stored): sums, differences, products
// and bits modulo 256, the larger and the smaller one. C++17, freestanding, no heap, no state. A
// step of 0 repeats one element.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_bits.h"
#include "etch_byte_vector.h"
#include "etch_stored.h"

namespace etch {
namespace rt {

// Operations of which the result is one of the two numbers: they need the order of values.
template <class Operation>
struct TakesOne {
  enum { value = 0 };
};
template <>
struct TakesOne<Max> {
  enum { value = 1 };
};
template <>
struct TakesOne<Min> {
  enum { value = 1 };
};

// Of two numbers that are compared, `byte ^ flip` is in the order of their values, signed or not.
template <class Operation>
ETCH_INLINE uint8_t combined_byte(uint8_t a, Stored a_as, uint8_t b, Stored b_as, Stored y_as) {
  if constexpr (TakesOne<Operation>::value != 0) {
    const int32_t chosen = Operation::of(int32_t{a} ^ a_as.flip, int32_t{b} ^ b_as.flip);
    return static_cast<uint8_t>(chosen ^ y_as.flip);
  } else {
    return keep<uint8_t>(Operation::of(value_of(a, a_as), value_of(b, b_as)), y_as);
  }
}

#if defined(ETCH_BYTE_VECTOR)
// Of numbers, signed or not; the same for both except in those that divide.
template <class Operation>
struct ByteVectors {
  ETCH_INLINE ByteVector of(const ByteVector& a, const ByteVector& b, bool) {
    return IntegerVectors<Operation>::of(a, b);
  }
};

template <class Operation>
ETCH_INLINE ByteVector combined_bytes(const ByteVector& a, Stored a_as, const ByteVector& b,
                                      Stored b_as, Stored y_as) {
  const ByteVector left = a ^ repeated_byte(a_as.flip), right = b ^ repeated_byte(b_as.flip);
  const ByteVector flip = repeated_byte(y_as.flip);
  if constexpr (TakesOne<Operation>::value != 0) {
    return IntegerVectors<Operation>::of(left, right) ^ flip;
  } else {
    const ByteVector value = ByteVectors<Operation>::of(
        left - repeated_byte(a_as.offset), right - repeated_byte(b_as.offset), y_as.offset != 0);
    return (value + repeated_byte(y_as.offset)) ^ flip;
  }
}
#endif

// y[i] = Operation(a[i * a_step], b[i * b_step]), all of one type of the model.
template <class Operation>
static inline void combine_bytes(const uint8_t* a, ptrdiff_t a_step, Stored a_as, const uint8_t* b,
                                 ptrdiff_t b_step, Stored b_as, uint8_t* y, Stored y_as,
                                 ptrdiff_t n) {
  ptrdiff_t i = 0;
#if defined(ETCH_BYTE_VECTOR)
  constexpr ptrdiff_t kCount = sizeof(ByteVector);
  if (is_dense(a_step) && is_dense(b_step)) {
    for (; n - i >= kCount; i += kCount) {
      const ByteVector result =
          combined_bytes<Operation>(load_byte_vector(a + i * a_step, a_step), a_as,
                                    load_byte_vector(b + i * b_step, b_step), b_as, y_as);
      ETCH_MEMCPY(y + i, &result, sizeof result);
    }
  }
#endif
  for (; i < n; ++i)
    y[i] = combined_byte<Operation>(a[i * a_step], a_as, b[i * b_step], b_as, y_as);
}

}  // namespace rt
}  // namespace etch
