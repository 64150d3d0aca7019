// Bytes as the lanes of several integers or floats, for functions of etch_float_lanes.h's kind that
// read and write 8-bit tensors: the same integers whatever the number of lanes. C++17,
// freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"
#include "etch_stored.h"

namespace etch {
namespace rt {

// The bytes from p on, zero-extended. Intrinsics, because gcc 12 converts such vectors one element
// at a time.
template <int lanes>
ETCH_INLINE Ints<lanes> load_bytes(const uint8_t* p) {
  if constexpr (lanes == 1) {
    return {*p};
  } else {
    Ints<lanes> out;
#if defined(__GNUC__) && defined(__AVX512F__)
    if constexpr (lanes == 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      const __m512i wide = _mm512_maskz_cvtepu8_epi32(kAllLanes, bytes);
      ETCH_MEMCPY(&out, &wide, sizeof out);
      return out;
    }
#endif
#if defined(__GNUC__) && defined(__AVX2__)
    if constexpr (lanes == 8) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
      const __m256i wide = _mm256_cvtepu8_epi32(bytes);
      ETCH_MEMCPY(&out, &wide, sizeof out);
      return out;
    }
#endif
#if defined(__GNUC__) && defined(__SSE4_1__)
    if constexpr (lanes == 4) {
      int32_t bits;
      ETCH_MEMCPY(&bits, p, sizeof bits);
      const __m128i wide = _mm_cvtepu8_epi32(_mm_cvtsi32_si128(bits));
      ETCH_MEMCPY(&out, &wide, sizeof out);
      return out;
    }
#endif
#if defined(ETCH_HELIUM_FLOATS)
    if constexpr (lanes == kCheckedLanes)
      return {reinterpret_cast<typename Ints<lanes>::Vector>(vldrbq_u32(p))};
#endif
#if defined(ETCH_ARM_LANES)
    if constexpr (lanes == 4) {
      uint32_t bits;
      ETCH_MEMCPY(&bits, p, sizeof bits);
      const uint16x4_t pairs = vget_low_u16(vmovl_u8(vcreate_u8(bits)));
      const uint32x4_t wide = vmovl_u16(pairs);
      ETCH_MEMCPY(&out, &wide, sizeof out);
      return out;
    }
#endif
    for (int i = 0; i < lanes; ++i) out.v[i] = p[i];
    return out;
  }
}

// The low byte of every lane.
template <int lanes>
ETCH_INLINE void store_low_bytes(uint8_t* p, const Ints<lanes>& x) {
  if constexpr (lanes == 1) {
    *p = static_cast<uint8_t>(x.v);
  } else {
#if defined(__GNUC__) && defined(__AVX512F__)
    if constexpr (lanes == 16) {
      __m512i wide;
      ETCH_MEMCPY(&wide, &x, sizeof wide);
      const __m128i bytes = _mm512_maskz_cvtepi32_epi8(kAllLanes, wide);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
      return;
    }
#endif
#if defined(__GNUC__) && defined(__SSE4_1__)
    if constexpr (lanes == 4) {
      __m128i wide;
      ETCH_MEMCPY(&wide, &x, sizeof wide);
      const __m128i low =
          _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
      const int32_t bits = _mm_cvtsi128_si32(_mm_shuffle_epi8(wide, low));
      ETCH_MEMCPY(p, &bits, sizeof bits);
      return;
    }
    if constexpr (lanes == 8) {
      Ints<4> half[2];
      ETCH_MEMCPY(half, &x, sizeof x);
      store_low_bytes(p, half[0]);
      store_low_bytes(p + 4, half[1]);
      return;
    }
#endif
#if defined(ETCH_ARM_LANES)
    if constexpr (lanes == 4) {
      uint32x4_t wide;
      ETCH_MEMCPY(&wide, &x, sizeof wide);
      const uint16x8_t pairs = vcombine_u16(vmovn_u32(wide), vdup_n_u16(0));
      const uint32_t bits = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(pairs)), 0);
      ETCH_MEMCPY(p, &bits, sizeof bits);
      return;
    }
#endif
    for (int i = 0; i < lanes; ++i) p[i] = static_cast<uint8_t>(x.v[i]);
  }
}

// value_of() of the bytes from p on.
template <int lanes>
ETCH_INLINE Ints<lanes> load_values(const uint8_t* p, Stored as) {
  return {(load_bytes<lanes>(p).v ^ as.flip) - as.offset};
}

// keep<uint8_t>() of every lane.
template <int lanes>
ETCH_INLINE void keep_bytes(uint8_t* p, const Ints<lanes>& value, Stored as) {
  store_low_bytes(p, Ints<lanes>{(value.v + as.offset) ^ as.flip});
}

}  // namespace rt
}  // namespace etch
