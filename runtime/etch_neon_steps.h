// Fused multiply-add of four floats by NEON of 32-bit Arm: an instruction where the CPU has VFPv4,
// else composed of instructions that round.
//
// A product p * x is composed of its rounded value h and what that lost, exactly: both factors are
// parts of 12 bits, whose products are floats. The sum with the addend c is s and what that lost.
// With v, the sum of both losses, the result is s + v. As v is rounded itself, that could be wrong
// only where s + v is halfway between two floats (as in fma_software(), etch_float.h). Then v has
// few bits: where the low 16 of it are zeros and it was rounded, QC of FPSCR is set, by a
// subtraction that saturates, and etch_checked_floats.h has the results computed again one by one.
// NaN has such zeros, too. A part that is too small sets UFC. C++17, freestanding, no heap, no
// state besides FPSCR.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_neon_floats.h"
#include "etch_vector.h"

#if defined(ETCH_NEON_FLOATS)
#if !defined(__ARM_FEATURE_FMA)
#define ETCH_COMPOSED_STEPS 1
#endif

namespace etch {
namespace rt {

#if !defined(ETCH_COMPOSED_STEPS)
ETCH_INLINE Floats<4> composed_step(const Floats<4>& a, const Floats<4>& b, const Floats<4>& c) {
  Floats<4> out = c;
  __asm__("vfma.f32 %q0, %q1, %q2" : "+w"(out.v) : "w"(a.v), "w"(b.v));
  return out;
}
#else

typedef uint32_t NeonWords __attribute__((vector_size(16)));

ETCH_INLINE NeonWords words_of(const Floats<4>& x) {
  NeonWords out;
  ETCH_MEMCPY(&out, &x, sizeof x);
  return out;
}
ETCH_INLINE NeonWords words_of(const Lanes<4>& x) {
  NeonWords out;
  ETCH_MEMCPY(&out, &x, sizeof x);
  return out;
}
ETCH_INLINE Floats<4> of_words(const NeonWords& x) {
  Floats<4> out;
  ETCH_MEMCPY(&out, &x, sizeof x);
  return out;
}

// The first 12 bits of x; what is left are 12 bits, too.
ETCH_INLINE Floats<4> high_part(const Floats<4>& x) { return of_words(words_of(x) & 0xfffff000u); }

// What is known of a step's product and addend: the addend has the larger magnitude, or both have
// the same sign and the product is at most 1000 times as large, or nothing.
enum class Addends { kAddendLarger, kSameSign, kAny };

// t = 1 where v, which is h, is not the sum of both losses, t and e; else 0. What v is less than
// one of them is exact where that is a multiple of the other's last bit.
#define ETCH_IS_ROUNDED              \
  "vsub.f32 %q[t], %q[h], %q[t]\n\t" \
  "vadd.f32 %q[t], %q[t], %q[e]\n\t" \
  "vmin.u32 %q[t], %q[t], %q[ones]\n\t"

// p * x + c. The asm statements are volatile because of QC.
#define ETCH_COMPOSED_STEP(loss_of_sum, is_rounded)                                         \
  __asm__ volatile(                                                                         \
      "vmul.f32 %q[h], %q[p], %q[x]\n\t"                                                    \
      "vand %q[s], %q[p], %q[mask]\n\t"                                                     \
      "vsub.f32 %q[p], %q[p], %q[s]\n\t"                                                    \
      "vmov %q[e], %q[h]\n\t"                                                               \
      "vmls.f32 %q[e], %q[s], %q[high]\n\t"                                                 \
      "vmls.f32 %q[e], %q[s], %q[low]\n\t"                                                  \
      "vmls.f32 %q[e], %q[p], %q[high]\n\t"                                                 \
      "vmls.f32 %q[e], %q[p], %q[low]\n\t"                                                  \
      "vadd.f32 %q[s], %q[h], %q[c]\n\t" loss_of_sum                                        \
      "vsub.f32 %q[h], %q[t], %q[e]\n\t"                                                    \
      "vadd.f32 %q[p], %q[s], %q[h]\n\t" is_rounded "vqsub.u16 %q[t], %q[h], %q[t]"         \
      : [p] "+&w"(p.v), [h] "=&w"(h.v), [e] "=&w"(e.v), [s] "=&w"(s.v), [t] "=&w"(t.v)      \
      : [x] "w"(x.v), [high] "w"(high.v), [low] "w"(low.v), [c] "w"(c.v), [mask] "w"(mask), \
        [ones] "w"(ones))

template <Addends addends>
ETCH_INLINE Floats<4> composed_step(Floats<4> p, const Floats<4>& x, const Floats<4>& high,
                                    const Floats<4>& low, const Floats<4>& c) {
  const NeonWords mask = {0xfffff000u, 0xfffff000u, 0xfffff000u, 0xfffff000u};
  const NeonWords ones = {1u, 1u, 1u, 1u};
  Floats<4> h, e, s, t;
  if constexpr (addends == Addends::kAddendLarger) {
    ETCH_COMPOSED_STEP(
        "vsub.f32 %q[t], %q[s], %q[c]\n\t"
        "vsub.f32 %q[t], %q[h], %q[t]\n\t",
        ETCH_IS_ROUNDED);
  } else if constexpr (addends == Addends::kSameSign) {
    ETCH_COMPOSED_STEP(
        "vmax.f32 %q[t], %q[h], %q[c]\n\t"
        "vmin.f32 %q[h], %q[h], %q[c]\n\t"
        "vsub.f32 %q[t], %q[s], %q[t]\n\t"
        "vsub.f32 %q[t], %q[h], %q[t]\n\t",
        ETCH_IS_ROUNDED);
  } else {
    ETCH_COMPOSED_STEP(
        "vsub.f32 %q[p], %q[s], %q[h]\n\t"
        "vsub.f32 %q[t], %q[s], %q[p]\n\t"
        "vsub.f32 %q[t], %q[h], %q[t]\n\t"
        "vsub.f32 %q[p], %q[c], %q[p]\n\t"
        "vadd.f32 %q[t], %q[t], %q[p]\n\t",
        "vmov %q[t], %q[ones]\n\t");
  }
  return p;
}
#undef ETCH_COMPOSED_STEP
#undef ETCH_IS_ROUNDED

ETCH_INLINE Floats<4> composed_step(const Floats<4>& a, const Floats<4>& b, const Floats<4>& c) {
  const Floats<4> high = high_part(b);
  return composed_step<Addends::kAny>(a, b, high, difference(b, high), c);
}

// Sets QC if a word is not below `limit`, which is not 0.
ETCH_INLINE void expect_below(const NeonWords& words, uint32_t limit) {
  const uint32_t rest = 0u - limit;
  const NeonWords added = {rest, rest, rest, rest};
  NeonWords out;
  __asm__ volatile("vqadd.u32 %q0, %q1, %q2" : "=w"(out) : "w"(words), "w"(added));
}

// The least and the greatest of what a step has.
struct StepRange {
  double least, most;
};
static constexpr StepRange product_range(const StepRange& a, const StepRange& b) {
  const double ends[4] = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
  StepRange out{ends[0], ends[0]};
  for (const double end : ends) {
    out.least = end < out.least ? end : out.least;
    out.most = end > out.most ? end : out.most;
  }
  return out;
}
// A sum with what rounding may change, and more.
static constexpr StepRange sum_range(const StepRange& a, double b) {
  constexpr double kMore = 1e-6;
  const double least = a.least + b, most = a.most + b;
  return {least - (least < 0 ? -least : least) * kMore, most + (most < 0 ? -most : most) * kMore};
}

// What is known of step i of the polynomial (c[0] x + c[1]) x + ..., for all x of a range.
template <size_t N>
static constexpr Addends addends_of(const float (&c)[N], size_t step, const StepRange& x) {
  StepRange p{c[0], c[0]};
  for (size_t i = 1; i < step; ++i) p = sum_range(product_range(p, x), c[i]);
  const StepRange h = product_range(p, x);
  const double size = c[step] < 0 ? -c[step] : c[step];
  if (h.most < size * 0.99 && -h.least < size * 0.99) return Addends::kAddendLarger;
  const bool is_same = h.least >= 0 && c[step] >= 0 && h.most < 1000 * size;
  return is_same ? Addends::kSameSign : Addends::kAny;
}

// The float at `next` in all lanes, and `next` moves on: one instruction, where constants are two.
ETCH_INLINE Floats<4> next_term(const float*& next) {
  Floats<4> out;
  __asm__("vld1.32 {%e0[], %f0[]}, [%1]!" : "=w"(out.v), "+r"(next));
  return out;
}

// Polynomial::kTerms in fused steps, for x within Polynomial::kRange.
template <class Polynomial, size_t last>
ETCH_INLINE Floats<4> composed_powers_to(const Floats<4>& x, const Floats<4>& high,
                                         const Floats<4>& low, const float*& next) {
  if constexpr (last == 0) {
    return next_term(next);
  } else {
    constexpr Addends kAddends = addends_of(Polynomial::kTerms, last, Polynomial::kRange);
    const Floats<4> p = composed_powers_to<Polynomial, last - 1>(x, high, low, next);
    return composed_step<kAddends>(p, x, high, low, next_term(next));
  }
}
template <class Polynomial>
ETCH_INLINE Floats<4> composed_powers(const Floats<4>& x) {
  constexpr size_t kLast = sizeof Polynomial::kTerms / sizeof(float) - 1;
  const float* next = Polynomial::kTerms;
  const Floats<4> high = high_part(x);
  return composed_powers_to<Polynomial, kLast>(x, high, difference(x, high), next);
}
#endif

}  // namespace rt
}  // namespace etch
#endif
