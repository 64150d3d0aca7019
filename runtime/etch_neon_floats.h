// Arithmetic of four floats by NEON of 32-bit Arm, for the names of etch_vector.h: compilers
// compute lane by lane what is written as operators, because these instructions take subnormal
// numbers for zero. Who calls them asks afterwards whether that was exact: etch_checked_floats.h.
// C++17, freestanding, no heap, no state besides FPSCR.
#pragma once

#include <stdint.h>

#include "etch_vector.h"

#if defined(ETCH_NEON_FLOATS)
namespace etch {
namespace rt {

// Of unknown origin to the compiler, so none is fused with another one.
#define ETCH_NEON_OPERATION(name, instruction)                                    \
  ETCH_INLINE Floats<4> name(const Floats<4>& a, const Floats<4>& b) {            \
    Floats<4> out;                                                                \
    __asm__(instruction ".f32 %q0, %q1, %q2" : "=w"(out.v) : "w"(a.v), "w"(b.v)); \
    return out;                                                                   \
  }
ETCH_NEON_OPERATION(sum, "vadd")
ETCH_NEON_OPERATION(difference, "vsub")
ETCH_NEON_OPERATION(product, "vmul")
// NaN where one is NaN.
ETCH_NEON_OPERATION(larger_or_nan, "vmax")
ETCH_NEON_OPERATION(smaller_or_nan, "vmin")
#undef ETCH_NEON_OPERATION

// One by one, as NEON does not divide: subnormal numbers are exact here.
ETCH_INLINE Floats<4> quotient(const Floats<4>& a, const Floats<4>& b) {
  Floats<4> out;
  __asm__(
      "vmov q0, %q1\n\tvmov q1, %q2\n\t"
      "vdiv.f32 s0, s0, s4\n\tvdiv.f32 s1, s1, s5\n\t"
      "vdiv.f32 s2, s2, s6\n\tvdiv.f32 s3, s3, s7\n\t"
      "vmov %q0, q0"
      : "=w"(out.v)
      : "w"(a.v), "w"(b.v)
      : "q0", "q1");
  return out;
}

// so_far + a * b, both rounded: VMLA is no fused step.
ETCH_INLINE Floats<4> sum_with_product(const Floats<4>& so_far, const Floats<4>& a,
                                       const Floats<4>& b) {
  Floats<4> out = so_far;
  __asm__("vmla.f32 %q0, %q1, %q2" : "+w"(out.v) : "w"(a.v), "w"(b.v));
  return out;
}

#define ETCH_NEON_COMPARISON(name, instruction)                                   \
  ETCH_INLINE Lanes<4> name(const Floats<4>& a, const Floats<4>& b) {             \
    Lanes<4> out;                                                                 \
    __asm__(instruction ".f32 %q0, %q1, %q2" : "=w"(out.v) : "w"(b.v), "w"(a.v)); \
    return out;                                                                   \
  }
ETCH_NEON_COMPARISON(below, "vcgt")  // b > a
ETCH_NEON_COMPARISON(are_equal, "vceq")
#undef ETCH_NEON_COMPARISON
ETCH_INLINE Lanes<4> not_below(const Floats<4>& a, const Floats<4>& b) {
  Lanes<4> out;
  __asm__("vcge.f32 %q0, %q1, %q2" : "=w"(out.v) : "w"(a.v), "w"(b.v));
  return out;
}

ETCH_INLINE Floats<4> choose(const Lanes<4>& where, const Floats<4>& yes, const Floats<4>& no) {
  Lanes<4> out = where;
  __asm__("vbsl %q0, %q1, %q2" : "+w"(out.v) : "w"(yes.v), "w"(no.v));
  Floats<4> result;
  ETCH_MEMCPY(&result, &out, sizeof out);
  return result;
}

}  // namespace rt
}  // namespace etch
#endif
