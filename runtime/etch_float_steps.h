// How sums of float products (etch_float_products.h and the files that share its tiles) take the
// next product. There are two ways, a template's argument each, so that code says which bits it
// gives, whatever the compiler's flags:
//
//   Separate  rounds the product, then the sum
//   Fused     rounds once: an instruction where the target has it, else what fma_exact() computes
//
// A sum starts at 0. With Separate it is never -0. With Fused it is where a negative product is too
// small for a float, so 0 is added once at the end: then products with zeros, as in a padding,
// change no result of either, and none is -0. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>

#include "etch_checked_floats.h"
#include "etch_float_lanes.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

struct Separate {
  // so_far + x * w
  template <int lanes>
  ETCH_INLINE Floats<lanes> add(const Floats<lanes>& so_far, const Floats<lanes>& x,
                                const Floats<lanes>& w) {
#if defined(ETCH_NEON_FLOATS)
    if constexpr (lanes == 4) return sum_with_product(so_far, x, w);
#endif
    return sum(so_far, product(x, w));
  }
  // The same of *x in all lanes.
  template <int lanes>
  ETCH_INLINE Floats<lanes> add_one(const Floats<lanes>& so_far, const float* x,
                                    const Floats<lanes>& w) {
#if defined(ETCH_NEON_FLOATS)
    if constexpr (lanes == 4) return sum_with_product(so_far, all_lanes<4>(*x), w);
#endif
    return sum(so_far, product_of_one(x, w));
  }
  // What follows the last product.
  template <int lanes>
  ETCH_INLINE Floats<lanes> end(const Floats<lanes>& all) {
    return all;
  }
};

#if defined(ETCH_FMA_INSTRUCTION) || !defined(__GNUC__)
template <int lanes>
ETCH_INLINE Floats<lanes> fused_step(const Floats<lanes>& so_far, const Floats<lanes>& x,
                                     const Floats<lanes>& w) {
  return fused(x, w, so_far);
}
#else
// Some thirty instructions: a tile calls them for each of its steps, of which it has a hundred.
template <int lanes>
__attribute__((noinline)) static Floats<lanes> fused_step(Floats<lanes> so_far, Floats<lanes> x,
                                                          Floats<lanes> w) {
  return fused(x, w, so_far);
}
#endif

struct Fused {
  template <int lanes>
  ETCH_INLINE Floats<lanes> add(const Floats<lanes>& so_far, const Floats<lanes>& x,
                                const Floats<lanes>& w) {
    return fused_step(so_far, x, w);
  }
  template <int lanes>
  ETCH_INLINE Floats<lanes> add_one(const Floats<lanes>& so_far, const float* x,
                                    const Floats<lanes>& w) {
#if defined(ETCH_HELIUM_FLOATS)
    if constexpr (lanes == kCheckedLanes) return {vfmaq_n_f32(so_far.v, w.v, *x)};
#endif
    return fused_step(so_far, all_lanes<lanes>(*x), w);
  }
  template <int lanes>
  ETCH_INLINE Floats<lanes> end(const Floats<lanes>& all) {
    return sum(all, all_lanes<lanes>(0.0f));
  }
};

static constexpr bool is_fused(Separate) { return false; }
static constexpr bool is_fused(Fused) { return true; }

// sums[j] += *x * w[j]
template <class Steps, int lanes, int count>
ETCH_INLINE void add_scaled(Columns<lanes, count>& sums, const float* x, const float* w) {
  sums.first = Steps::add_one(sums.first, x, load<lanes>(w));
  if constexpr (count > 1) add_scaled<Steps>(sums.rest, x, w + lanes);
}

// sums[j] += x[j] * w[j]
template <class Steps, int lanes, int count>
ETCH_INLINE void add_products(Columns<lanes, count>& sums, const float* x, const float* w) {
  sums.first = Steps::add(sums.first, load<lanes>(x), load<lanes>(w));
  if constexpr (count > 1) add_products<Steps>(sums.rest, x + lanes, w + lanes);
}

// What follows the last product of each sum.
template <class Steps, int lanes, int count>
ETCH_INLINE void end_sums(Columns<lanes, count>& sums) {
  sums.first = Steps::end(sums.first);
  if constexpr (count > 1) end_sums<Steps>(sums.rest);
}

}  // namespace rt
}  // namespace etch
