// Sums of rows of floats: 16 partial sums, element i added to sum i mod 16, combined in one order,
// so that the bits are the same with vectors of any number of lanes. C++17, freestanding, no heap,
// no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"

namespace etch {
namespace rt {

// 16 lanes combined in the order of ONNX Runtime's AVX512F code for sums: upper half onto lower
// half, then neighbours, then neighbouring pairs, then the two quarters that remain.
template <class Fold, int lanes>
ETCH_INLINE Floats<lanes> fold_lanes(const Floats<lanes>* part) {
  Floats<lanes> half[8];
  for (int i = 0; i < 8; ++i) half[i] = Fold::folded(part[i + 8], part[i]);
  return Fold::folded(Fold::folded(Fold::folded(half[0], half[1]), Fold::folded(half[2], half[3])),
                      Fold::folded(Fold::folded(half[4], half[5]), Fold::folded(half[6], half[7])));
}

struct Summed {
  template <int lanes>
  ETCH_INLINE Floats<lanes> folded(const Floats<lanes>& a, const Floats<lanes>& b) {
    return sum(a, b);
  }
};

template <int lanes>
ETCH_INLINE Floats<lanes> sum_of_lanes(const Floats<lanes>* part) {
  return fold_lanes<Summed>(part);
}

// 16 partial sums in as many vectors as they need.
template <int lanes>
struct PartialSums {
  Floats<lanes> v[static_cast<size_t>(16 / lanes)];
};

#if defined(ETCH_FOUR_FLOATS)
// a[0] + a[1], a[2] + a[3], and the same of b.
ETCH_INLINE Floats<4> sums_of_pairs(const Floats<4>& a, const Floats<4>& b) {
#if defined(__SSE2__)
  return {_mm_add_ps(_mm_shuffle_ps(a.v, b.v, 0x88), _mm_shuffle_ps(a.v, b.v, 0xdd))};
#elif defined(__wasm_simd128__) || defined(ETCH_RISCV_LANES)
  return {__builtin_shufflevector(a.v, b.v, 0, 2, 4, 6) +
          __builtin_shufflevector(a.v, b.v, 1, 3, 5, 7)};
#else
  Floats<4> out;
  __asm__("faddp %0.4s, %1.4s, %2.4s" : "=w"(out.v) : "w"(a.v), "w"(b.v));
  return out;
#endif
}
#endif

// sum_of_lanes() of neighbours.
template <int lanes>
ETCH_INLINE float sum_of_lanes(const PartialSums<lanes>& sums) {
#if defined(ETCH_FOUR_FLOATS)
  Floats<4> quarter[4];
  ETCH_MEMCPY(quarter, &sums, sizeof sums);
  const Floats<4> pairs = sums_of_pairs(sum(quarter[2], quarter[0]), sum(quarter[3], quarter[1]));
  const Floats<4> fours = sums_of_pairs(pairs, pairs);
  return fours.v[0] + fours.v[1];
#else
  static_assert(lanes == 1, "vectors without sums of pairs");
  return sum_of_lanes(sums.v).v;
#endif
}

// Block k of 16 elements that are all there, and those after it.
template <int k, int lanes, class Map>
ETCH_INLINE void add_block(PartialSums<lanes>& sums, const float* x, Map map) {
  sums.v[k] = sum(sums.v[k], map(load<lanes>(x)));
  if constexpr (k + 1 < 16 / lanes) add_block<k + 1>(sums, x + lanes, map);
}

// The same for n < 16 elements. No partial sum is -0, so adding 0 changes none.
template <int k, int lanes, class Map>
ETCH_INLINE void add_some(PartialSums<lanes>& sums, const float* x, int32_t n, Map map) {
  if (n <= 0) return;
  const int32_t here = n < lanes ? n : lanes;
  const Floats<lanes> each = map(load_some<lanes>(x, 1, here));
  sums.v[k] = sum(sums.v[k], first_lanes(each, here, all_lanes<lanes>(0.0f)));
  if constexpr (k + 1 < 16 / lanes) add_some<k + 1>(sums, x + lanes, n - lanes, map);
}

#if defined(ETCH_NEON_FLOATS)
// The blocks of 16 elements that are all there, in checked vectors; returns how many elements, or 0
// where these are not exact.
template <class Map>
ETCH_INLINE int32_t add_checked_blocks(PartialSums<1>& sums, const float* x, int32_t n, Map map) {
  const uint32_t before = begin_check();
  PartialSums<4> blocks;
  for (Floats<4>& each : blocks.v) each = all_lanes<4>(0.0f);
  int32_t i = 0;
  for (; n - i >= 16; i += 16) add_block<0>(blocks, x + i, map);
  if (!end_check(before)) return 0;
  ETCH_MEMCPY(&sums, &blocks, sizeof sums);
  return i;
}
#endif

// The sum of map(x[i]): element i is added to partial sum i mod 16, in ascending order.
template <class Map>
ETCH_INLINE float sum_of_row(const float* x, int32_t n, Map map) {
  constexpr int kLanes = kFloatLanes;
  PartialSums<kLanes> sums;
  for (Floats<kLanes>& each : sums.v) each = all_lanes<kLanes>(0.0f);
  int32_t i = 0;
  if constexpr (kLanes > 1) {
    for (; n - i >= 16; i += 16) add_block<0>(sums, x + i, map);
    add_some<0>(sums, x + i, n - i, map);
  } else {
#if defined(ETCH_NEON_FLOATS)
    i = add_checked_blocks(sums, x, n, map);
#endif
    for (; i < n; ++i) sums.v[i & 15].v += map(Floats<1>{x[i]}).v;
  }
  return sum_of_lanes(sums);
}

}  // namespace rt
}  // namespace etch
