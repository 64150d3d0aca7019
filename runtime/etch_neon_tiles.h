// How NEON of 32-bit Arm adds products to tiles of vectors of sums: all channels that come in fours
// in one loop of assembly, because compilers load far ahead and then have no registers for the
// sums. VMLA rounds the product and the sum; one lane of x is a factor of all of a vector. Sums and
// their order are those of add_scaled() in etch_float_tiles.h; for subnormal numbers see
// etch_checked_floats.h. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_checked_floats.h"
#include "etch_float_tiles.h"

namespace etch {
namespace rt {

// Whether a tile has such a loop.
template <class Steps, int lanes, int count, int pixels>
constexpr bool kHasNeonTile = false;

}  // namespace rt
}  // namespace etch

#if defined(ETCH_NEON_FLOATS) && defined(__OPTIMIZE__)
#define ETCH_NEON_TILES 1

namespace etch {
namespace rt {

template <>
constexpr bool kHasNeonTile<Separate, 4, 2, 4> = true;
template <>
constexpr bool kHasNeonTile<Separate, 4, 1, 4> = true;
template <>
constexpr bool kHasNeonTile<Separate, 4, 4, 1> = true;

// Four channels are in q0 to q3, of one pixel each; weights in q4 to q7.
#define ETCH_LOAD_CHANNELS(q, x) "vld1.32 {" q "}, [%[" x "]]!\n\t"
#define ETCH_ADD(sum, w, x) "vmla.f32 %q[" sum "], " w ", " x "\n\t"
#define ETCH_END_OF_FOUR "subs %[n], %[n], #1\n\tbne 1b"

// One channel, which is lane `x` of each pixel: two vectors of columns of four pixels.
#define ETCH_TWO_OF_FOUR(x0, x1, x2, x3)                                                  \
  "vld1.32 {d8-d11}, [%[w]], %[step]\n\t" ETCH_ADD("a", "q4", x0) ETCH_ADD("b", "q5", x0) \
      ETCH_ADD("c", "q4", x1) ETCH_ADD("d", "q5", x1) ETCH_ADD("e", "q4", x2)             \
          ETCH_ADD("f", "q5", x2) ETCH_ADD("g", "q4", x3) ETCH_ADD("h", "q5", x3)
// One vector of four pixels.
#define ETCH_ONE_OF_FOUR(x0, x1, x2, x3)                                                 \
  "vld1.32 {d8-d9}, [%[w]], %[step]\n\t" ETCH_ADD("a", "q4", x0) ETCH_ADD("b", "q4", x1) \
      ETCH_ADD("c", "q4", x2) ETCH_ADD("d", "q4", x3)
// Four vectors of one pixel.
#define ETCH_FOUR_OF_ONE(x0)                                                               \
  "vld1.32 {d8-d11}, [%[w]]!\n\t"                                                          \
  "vld1.32 {d12-d15}, [%[w]], %[step]\n\t" ETCH_ADD("a", "q4", x0) ETCH_ADD("b", "q5", x0) \
      ETCH_ADD("c", "q6", x0) ETCH_ADD("d", "q7", x0)

// Adds 4 * n channels, n > 0, whose places in x are neighbours; rows of weights are `width` apart.
// Returns what is after the last row.
ETCH_INLINE const float* add_fours(Tile<4, 2, 4>& tile, const float* x, ptrdiff_t x_pixel,
                                   const float* w, ptrdiff_t width, int32_t n) {
  typedef Floats<4>::Vector Vector;
  const float *x1 = x + x_pixel, *x2 = x1 + x_pixel, *x3 = x2 + x_pixel;
  Tile<4, 2, 3>& t1 = tile.rest;
  Tile<4, 2, 2>& t2 = t1.rest;
  Tile<4, 2, 1>& t3 = t2.rest;
  Vector a = tile.first.first.v, b = tile.first.rest.first.v;
  Vector c = t1.first.first.v, d = t1.first.rest.first.v;
  Vector e = t2.first.first.v, f = t2.first.rest.first.v;
  Vector g = t3.first.first.v, h = t3.first.rest.first.v;
  __asm__ volatile("1:\n\t" ETCH_LOAD_CHANNELS("q0", "x") ETCH_LOAD_CHANNELS("q1", "x1")
                       ETCH_LOAD_CHANNELS("q2", "x2") ETCH_LOAD_CHANNELS("q3", "x3")
                           ETCH_TWO_OF_FOUR("d0[0]", "d2[0]", "d4[0]", "d6[0]")
                               ETCH_TWO_OF_FOUR("d0[1]", "d2[1]", "d4[1]", "d6[1]")
                                   ETCH_TWO_OF_FOUR("d1[0]", "d3[0]", "d5[0]", "d7[0]")
                                       ETCH_TWO_OF_FOUR("d1[1]", "d3[1]", "d5[1]", "d7[1]")
                                           ETCH_END_OF_FOUR
                   : [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d), [e] "+w"(e), [f] "+w"(f),
                     [g] "+w"(g), [h] "+w"(h), [x] "+r"(x), [x1] "+r"(x1), [x2] "+r"(x2),
                     [x3] "+r"(x3), [w] "+r"(w), [n] "+r"(n)
                   : [step] "r"(4 * width)
                   : "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory");
  tile.first.first.v = a;
  tile.first.rest.first.v = b;
  t1.first.first.v = c;
  t1.first.rest.first.v = d;
  t2.first.first.v = e;
  t2.first.rest.first.v = f;
  t3.first.first.v = g;
  t3.first.rest.first.v = h;
  return w;
}

ETCH_INLINE const float* add_fours(Tile<4, 1, 4>& tile, const float* x, ptrdiff_t x_pixel,
                                   const float* w, ptrdiff_t width, int32_t n) {
  typedef Floats<4>::Vector Vector;
  const float *x1 = x + x_pixel, *x2 = x1 + x_pixel, *x3 = x2 + x_pixel;
  Tile<4, 1, 3>& t1 = tile.rest;
  Vector a = tile.first.first.v, b = t1.first.first.v;
  Vector c = t1.rest.first.first.v, d = t1.rest.rest.first.first.v;
  __asm__ volatile("1:\n\t" ETCH_LOAD_CHANNELS("q0", "x") ETCH_LOAD_CHANNELS("q1", "x1")
                       ETCH_LOAD_CHANNELS("q2", "x2") ETCH_LOAD_CHANNELS("q3", "x3")
                           ETCH_ONE_OF_FOUR("d0[0]", "d2[0]", "d4[0]", "d6[0]")
                               ETCH_ONE_OF_FOUR("d0[1]", "d2[1]", "d4[1]", "d6[1]")
                                   ETCH_ONE_OF_FOUR("d1[0]", "d3[0]", "d5[0]", "d7[0]")
                                       ETCH_ONE_OF_FOUR("d1[1]", "d3[1]", "d5[1]", "d7[1]")
                                           ETCH_END_OF_FOUR
                   : [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d), [x] "+r"(x), [x1] "+r"(x1),
                     [x2] "+r"(x2), [x3] "+r"(x3), [w] "+r"(w), [n] "+r"(n)
                   : [step] "r"(4 * width)
                   : "q0", "q1", "q2", "q3", "q4", "cc", "memory");
  tile.first.first.v = a;
  t1.first.first.v = b;
  t1.rest.first.first.v = c;
  t1.rest.rest.first.first.v = d;
  return w;
}

ETCH_INLINE const float* add_fours(Tile<4, 4, 1>& tile, const float* x, ptrdiff_t, const float* w,
                                   ptrdiff_t width, int32_t n) {
  typedef Floats<4>::Vector Vector;
  Columns<4, 3>& rest = tile.first.rest;
  Vector a = tile.first.first.v, b = rest.first.v;
  Vector c = rest.rest.first.v, d = rest.rest.rest.first.v;
  __asm__ volatile(
      "1:\n\t" ETCH_LOAD_CHANNELS("q0", "x") ETCH_FOUR_OF_ONE("d0[0]") ETCH_FOUR_OF_ONE("d0[1]")
          ETCH_FOUR_OF_ONE("d1[0]") ETCH_FOUR_OF_ONE("d1[1]") ETCH_END_OF_FOUR
      : [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d), [x] "+r"(x), [w] "+r"(w), [n] "+r"(n)
      : [step] "r"(4 * width - 32)
      : "q0", "q4", "q5", "q6", "q7", "cc", "memory");
  tile.first.first.v = a;
  rest.first.v = b;
  rest.rest.first.v = c;
  rest.rest.rest.first.v = d;
  return w;
}
#undef ETCH_LOAD_CHANNELS
#undef ETCH_ADD
#undef ETCH_END_OF_FOUR
#undef ETCH_TWO_OF_FOUR
#undef ETCH_ONE_OF_FOUR
#undef ETCH_FOUR_OF_ONE

}  // namespace rt
}  // namespace etch
#endif
