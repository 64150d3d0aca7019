// Quotients of int32 in vectors of doubles, which have them exactly: a quotient that is no integer
// is at least 2^-31 of itself away from the next one, and doubles round to 2^-53. Generated code
// has this where floats may be used. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_elementwise.h"
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

// Div in whatever way is the fastest.
struct DivByDoubles {
  ETCH_INLINE int32_t of(int32_t a, int32_t b) { return Div::of(a, b); }
};

#if defined(__GNUC__) && defined(__AVX__)
// The least value divided by -1 is 2^31, for which the conversion gives the least value again.
ETCH_INLINE __m128i four_quotients(__m128i a, __m128i b) {
  return _mm256_cvttpd_epi32(_mm256_div_pd(_mm256_cvtepi32_pd(a), _mm256_cvtepi32_pd(b)));
}

template <>
struct IntegerVectors<DivByDoubles> {
  enum { value = 1, wraps = 0 };
  template <class Vector>
  ETCH_INLINE Vector of(const Vector& a, const Vector& b) {
    constexpr size_t kFours = sizeof(Vector) / sizeof(__m128i);
    const Vector no_divisor = b == 0;
    const Vector divisors = b - no_divisor;  // 1 for 0: no division by 0 is raised
    __m128i dividend[kFours], divisor[kFours], each[kFours];
    ETCH_MEMCPY(dividend, &a, sizeof a);
    ETCH_MEMCPY(divisor, &divisors, sizeof divisors);
    for (size_t i = 0; i < kFours; ++i) each[i] = four_quotients(dividend[i], divisor[i]);
    Vector quotients;
    ETCH_MEMCPY(&quotients, each, sizeof each);
    return quotients & ~no_divisor;
  }
};
#endif

}  // namespace rt
}  // namespace etch
