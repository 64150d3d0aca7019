// Vectors of floats on cores whose vectors take subnormal numbers for zero, as those of Helium and
// of 32-bit Arm's NEON do: they compute the same bits as other targets where no number was
// subnormal, and FPSCR tells whether one was. Each operation sets IDC where it took an operand for
// zero, and UFC where it gave zero in place of a result below 2^-126. So a kernel clears both,
// computes in vectors, and where one is set afterwards computes the same results again one by one;
// it must not have overwritten what it reads. NaN is NaN, but perhaps another one.
//
// ETCH_CHECKED_FLOATS says that there are such vectors, of kCheckedLanes lanes: Floats<4> of
// etch_vector.h. C++17, freestanding, no heap, no state besides FPSCR.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_helium.h"
#include "etch_neon_floats.h"
#include "etch_neon_steps.h"
#include "etch_vector.h"

#if defined(__GNUC__) && defined(ETCH_HELIUM) && (__ARM_FEATURE_MVE & 2) != 0
#define ETCH_HELIUM_FLOATS 1
#endif

#if defined(ETCH_HELIUM_FLOATS) || defined(ETCH_NEON_FLOATS)
#define ETCH_CHECKED_FLOATS 1

namespace etch {
namespace rt {

constexpr int kCheckedLanes = 4;
constexpr bool kHasCheckedFloats = true;

// IDC and UFC.
constexpr uint32_t kSubnormalOperand = 1u << 7, kSubnormalResult = 1u << 3;
// QC, by which steps that NEON composes (etch_neon_steps.h) say that they may have rounded in the
// wrong direction.
#if defined(ETCH_COMPOSED_STEPS)
constexpr uint32_t kUncertainStep = 1u << 27;
#else
constexpr uint32_t kUncertainStep = 0;
#endif
constexpr uint32_t kNotExact = kSubnormalOperand | kSubnormalResult | kUncertainStep;

// No load or store moves from one side of these to the other, and with them what is computed of
// one and for the other: vectors between begin_check() and end_check() stay there.
static inline uint32_t read_fpscr() {
  uint32_t bits;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(bits) : : "memory");
  return bits;
}
static inline void write_fpscr(uint32_t bits) {
  __asm__ volatile("vmsr fpscr, %0" : : "r"(bits) : "memory");
}

// Returns what FPSCR was.
static inline uint32_t begin_check() {
  const uint32_t before = read_fpscr();
  write_fpscr(before & ~kNotExact);
  return before;
}

// Whether all vectors since begin_check() were exact. What was set before is set again.
static inline bool end_check(uint32_t before) {
  const uint32_t after = read_fpscr();
  write_fpscr(after | (before & kNotExact));
  return (after & kNotExact) == 0;
}

// Whether all vectors that x is computed from were exact, since begin_check().
ETCH_INLINE bool is_exact(Floats<4>& x) {
  uint32_t bits;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(bits), "+w"(x.v));
  return (bits & kNotExact) == 0;
}

#if defined(ETCH_NEON_FLOATS)
// y[k] = single(k) for the elements of the vector from `first` on. Not in the loop of vectors,
// which needs all registers.
template <class Single>
static __attribute__((noinline)) void map_singles(ptrdiff_t first, float* y, Single single) {
  for (ptrdiff_t k = first; k < first + kCheckedLanes; ++k) y[k] = single(k);
}
#endif

// y[i] = vectors(i) for four elements at a time, or where that is not exact single(i); returns how
// many of n. Elements are read before their places in y are written.
template <class Vectors, class Single>
ETCH_INLINE ptrdiff_t map_checked(ptrdiff_t n, float* y, Vectors vectors, Single single) {
  const uint32_t before = begin_check();
  const ptrdiff_t end = n - n % kCheckedLanes;
  for (ptrdiff_t i = 0; i < end; i += kCheckedLanes) {
    Floats<kCheckedLanes> each = vectors(i);
    if (is_exact(each)) {
      store(y + i, each);
      continue;
    }
#if defined(ETCH_NEON_FLOATS)
    map_singles(i, y, single);
#else
    for (ptrdiff_t k = i; k < i + kCheckedLanes; ++k) y[k] = single(k);
#endif
    begin_check();
  }
  end_check(before);
  return end;
}

#if defined(ETCH_HELIUM_FLOATS)
// gcc compares lane by lane what is not written as intrinsics. Helium's LT is the inverse of GE, so
// NaN would count as below; GT is false of it.
template <>
struct Lanes<4> {
  mve_pred16_t v;
};
ETCH_INLINE Lanes<4> below(const Floats<4>& a, const Floats<4>& b) {
  return {vcmpgtq_f32(b.v, a.v)};
}
ETCH_INLINE Lanes<4> not_below(const Floats<4>& a, const Floats<4>& b) {
  return {vcmpgeq_f32(a.v, b.v)};
}
ETCH_INLINE Floats<4> choose(const Lanes<4>& where, const Floats<4>& yes, const Floats<4>& no) {
  return {vpselq_f32(yes.v, no.v, where.v)};
}
#endif

}  // namespace rt
}  // namespace etch
#else
namespace etch {
namespace rt {
constexpr bool kHasCheckedFloats = false;
}  // namespace rt
}  // namespace etch
#endif

namespace etch {
namespace rt {

// Functions of floats with enough steps that they are worth checked vectors.
template <class Function>
struct HasCheckedVectors {
  enum { value = 0 };
};

}  // namespace rt
}  // namespace etch
