// Whether any lane of a comparison holds: one instruction where there is one.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

#if defined(__GNUC__)
// Whether some bit is set.
template <class Vector>
ETCH_INLINE bool is_any(const Vector& x) {
#if defined(__AVX512F__)
  if constexpr (sizeof x == 64) {
    const __m512i bits = reinterpret_cast<__m512i>(x);
    return _mm512_test_epi64_mask(bits, bits) != 0;
  }
#endif
#if defined(__AVX__)
  if constexpr (sizeof x == 32) {
    const __m256i bits = reinterpret_cast<__m256i>(x);
    return _mm256_testz_si256(bits, bits) == 0;
  }
#endif
  uint64_t part[sizeof x / 8], all = 0;
  ETCH_MEMCPY(part, &x, sizeof x);
  for (const uint64_t each : part) all |= each;
  return all != 0;
}
#endif

}  // namespace rt
}  // namespace etch
