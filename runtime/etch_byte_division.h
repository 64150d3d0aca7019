// Quotients of 8-bit integers and what division leaves, in vectors of bytes by long division; with
// the row that computes them (etch_byte_arithmetic.h). C++17, freestanding, no heap, no state, no
// floats.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_byte_arithmetic.h"

namespace etch {
namespace rt {

// What integer division leaves, with the sign of the dividend; 0 for a divisor 0.
struct TruncatedMod {
  ETCH_INLINE int32_t of(int32_t a, int32_t b) { return b == 0 || b == -1 ? 0 : a % b; }
};

#if defined(ETCH_BYTE_VECTOR)
typedef int8_t SignedByteVector __attribute__((vector_size(sizeof(ByteVector))));

// All ones where the bits are those of a number below 0.
ETCH_INLINE ByteVector signs_of(const ByteVector& bytes, bool is_signed) {
  if (!is_signed) return ByteVector{};
  return reinterpret_cast<ByteVector>(reinterpret_cast<SignedByteVector>(bytes) < 0);
}

// -x where `signs` has ones.
ETCH_INLINE ByteVector with_signs(const ByteVector& x, const ByteVector& signs) {
  return (x ^ signs) - signs;
}

// Unsigned; of a divisor 0 only the remainder is defined: the dividend.
struct DividedBytes {
  ByteVector quotient, remainder;
};

// Twice a divisor of at most 64; 128, which no dividend of 7 bits reaches, for those above.
ETCH_INLINE ByteVector doubled_divisor(const ByteVector& by) {
  const ByteVector most = repeated_byte(64);
  const ByteVector bounded = by < most ? by : most;
  return bounded + bounded;
}

// The next bit of the quotient: a difference below 0 wraps to more than what it was taken from.
ETCH_INLINE void divide_step(DividedBytes& left, const ByteVector& by) {
  const ByteVector less = left.remainder - by;
  left.remainder = less < left.remainder ? less : left.remainder;
  const ByteVector taken = reinterpret_cast<ByteVector>(less == left.remainder);
  left.quotient = left.quotient + left.quotient - taken;
}

// The upper 7 bits by the divisor's multiples. What they leave is at most 127, so that there is
// room for the last bit.
ETCH_INLINE DividedBytes divided_bytes(const ByteVector& a, const ByteVector& b) {
  const ByteVector by2 = doubled_divisor(b), by4 = doubled_divisor(by2);
  const ByteVector by8 = doubled_divisor(by4), by16 = doubled_divisor(by8);
  const ByteVector by32 = doubled_divisor(by16), by64 = doubled_divisor(by32);
  DividedBytes left{ByteVector{}, a >> 1};
  divide_step(left, by64);
  divide_step(left, by32);
  divide_step(left, by16);
  divide_step(left, by8);
  divide_step(left, by4);
  divide_step(left, by2);
  divide_step(left, b);
  left.remainder = (left.remainder + left.remainder) | (a & repeated_byte(1));
  divide_step(left, b);
  return left;
}

// Divides magnitudes. That of the least value is 128, as an unsigned byte.
template <>
struct ByteVectors<Div> {
  ETCH_INLINE ByteVector of(const ByteVector& a, const ByteVector& b, bool is_signed) {
    const ByteVector a_signs = signs_of(a, is_signed), b_signs = signs_of(b, is_signed);
    const DividedBytes each = divided_bytes(with_signs(a, a_signs), with_signs(b, b_signs));
    return with_signs(each.quotient, a_signs ^ b_signs) & truth_of(b);
  }
};
template <>
struct ByteVectors<TruncatedMod> {
  ETCH_INLINE ByteVector of(const ByteVector& a, const ByteVector& b, bool is_signed) {
    const ByteVector a_signs = signs_of(a, is_signed), b_signs = signs_of(b, is_signed);
    const DividedBytes each = divided_bytes(with_signs(a, a_signs), with_signs(b, b_signs));
    return with_signs(each.remainder, a_signs) & truth_of(b);
  }
};
template <>
struct ByteVectors<Mod> {
  ETCH_INLINE ByteVector of(const ByteVector& a, const ByteVector& b, bool is_signed) {
    const ByteVector left = ByteVectors<TruncatedMod>::of(a, b, is_signed);
    const ByteVector differs = signs_of(a, is_signed) ^ signs_of(b, is_signed);
    return left + (b & differs & truth_of(left));
  }
};
#endif

}  // namespace rt
}  // namespace etch
