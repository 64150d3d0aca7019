// What the verbs in portable C++ (native.h) compute with: vectors of up to 16 lanes, and the
// conversions of one lane.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "compiler/base/check.h"

namespace etch {

namespace native {

inline constexpr int kMostLanes = 16;

template <class T>
using Lanes = std::array<T, kMostLanes>;

// Lanes beyond IsaTraits::lanes stay zero.
struct I32 {
  Lanes<std::int32_t> lane{};
};
struct F32 {
  Lanes<float> lane{};
};
struct X4 {
  Lanes<std::array<std::uint8_t, 4>> lane{};
};
struct W4 {
  Lanes<std::array<std::int16_t, 4>> lane{};
};
struct Bytes {
  std::array<std::uint8_t, 4 * kMostLanes> at{};
};
struct QuadX {
  std::array<X4, 4> part{};
};
struct QuadI {
  std::array<I32, 4> part{};
};

inline std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

inline int clamp(int v, int low, int high) { return v < low ? low : (v > high ? high : v); }

// What verbs.def demands of every float that is converted. No model may fail this check.
inline bool fits_int32(float v) { return v > -2147483648.0F && v < 2147483648.0F; }

// Nearest integer, ties to even.
inline std::int32_t nearest_even(float v) {
  ETCH_CHECK(fits_int32(v));
  return static_cast<std::int32_t>(std::nearbyint(v));
}

// Nearest integer, ties away from zero, and the integer towards zero.
inline std::int32_t nearest_away(float v) {
  ETCH_CHECK(fits_int32(v));
  return static_cast<std::int32_t>(std::round(v));
}
inline std::int32_t towards_zero(float v) {
  ETCH_CHECK(fits_int32(v));
  return static_cast<std::int32_t>(v);
}

inline bool is_aligned(const void* p, int bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes) == 0;
}

}  // namespace native

}  // namespace etch
