// How Helium adds products to tiles of four vectors of sums: two channels of x, and of weights
// `width` apart, at a time. In assembly because compilers load each number of x by itself. Loads
// are between products, as Helium works on two instructions at once. Sums and their order are those
// of add_scaled() in etch_float_tiles.h, which takes its place without optimization, where
// compilers do not find the registers; for subnormal numbers see etch_checked_floats.h. C++17,
// freestanding, no heap, no state.
#pragma once

#include <stddef.h>

#include "etch_checked_floats.h"
#include "etch_float_tiles.h"

#if defined(ETCH_HELIUM_FLOATS) && defined(__OPTIMIZE__)
#define ETCH_CHECKED_TILES 1

namespace etch {
namespace rt {

// Two pixels of two vectors of columns.
ETCH_INLINE void add_two(Tile<4, 2, 2>& tile, const float* x, ptrdiff_t x_pixel, const float* w,
                         ptrdiff_t width) {
  typedef Floats<4>::Vector Vector;
  typedef float Pair[2];
  typedef float Row[8];
  const float *const x1 = x + x_pixel, *const w1 = w + width;
  // Copies, because gcc keeps in memory what assembly names as parts of a struct.
  Vector a = tile.first.first.v, b = tile.first.rest.first.v;
  Vector c = tile.rest.first.first.v, d = tile.rest.first.rest.first.v;
  Vector t, u, v;
  float p0, p1, q0, q1;
  __asm__(
      "vldrw.u32 %q[t], [%[w]]\n\t"
      "ldrd %[p0], %[p1], [%[x]]\n\t"
      "vmul.f32 %q[v], %q[t], %[p0]\n\t"
      "ldrd %[q0], %[q1], [%[x1]]\n\t"
      "vmul.f32 %q[t], %q[t], %[q0]\n\t"
      "vldrw.u32 %q[u], [%[w], #16]\n\t"
      "vadd.f32 %q[a], %q[a], %q[v]\n\t"
      "vmul.f32 %q[v], %q[u], %[p0]\n\t"
      "vadd.f32 %q[c], %q[c], %q[t]\n\t"
      "vldrw.u32 %q[t], [%[w1]]\n\t"
      "vmul.f32 %q[u], %q[u], %[q0]\n\t"
      "vadd.f32 %q[b], %q[b], %q[v]\n\t"
      "vmul.f32 %q[v], %q[t], %[p1]\n\t"
      "vadd.f32 %q[d], %q[d], %q[u]\n\t"
      "vldrw.u32 %q[u], [%[w1], #16]\n\t"
      "vmul.f32 %q[t], %q[t], %[q1]\n\t"
      "vadd.f32 %q[a], %q[a], %q[v]\n\t"
      "vmul.f32 %q[v], %q[u], %[p1]\n\t"
      "vadd.f32 %q[c], %q[c], %q[t]\n\t"
      "vmul.f32 %q[u], %q[u], %[q1]\n\t"
      "vadd.f32 %q[b], %q[b], %q[v]\n\t"
      "vadd.f32 %q[d], %q[d], %q[u]"
      : [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d), [t] "=&w"(t), [u] "=&w"(u),
        [v] "=&w"(v), [p0] "=&r"(p0), [p1] "=&r"(p1), [q0] "=&r"(q0), [q1] "=&r"(q1)
      : [x] "r"(x), [x1] "r"(x1), [w] "r"(w), [w1] "r"(w1), "m"(*reinterpret_cast<const Pair*>(x)),
        "m"(*reinterpret_cast<const Pair*>(x1)), "m"(*reinterpret_cast<const Row*>(w)),
        "m"(*reinterpret_cast<const Row*>(w1)));
  tile.first.first.v = a;
  tile.first.rest.first.v = b;
  tile.rest.first.first.v = c;
  tile.rest.first.rest.first.v = d;
}

// One pixel of four vectors of columns.
ETCH_INLINE void add_two(Tile<4, 4, 1>& tile, const float* x, ptrdiff_t, const float* w,
                         ptrdiff_t width) {
  typedef Floats<4>::Vector Vector;
  typedef float Pair[2];
  typedef float Row[16];
  const float* const w1 = w + width;
  Columns<4, 3>& rest = tile.first.rest;
  Vector a = tile.first.first.v, b = rest.first.v;
  Vector c = rest.rest.first.v, d = rest.rest.rest.first.v;
  Vector t, u, v;
  float p, q;
  __asm__(
      "ldrd %[p], %[q], [%[x]]\n\t"
      "vldrw.u32 %q[t], [%[w]]\n\t"
      "vldrw.u32 %q[u], [%[w], #16]\n\t"
      "vmul.f32 %q[t], %q[t], %[p]\n\t"
      "vldrw.u32 %q[v], [%[w], #32]\n\t"
      "vmul.f32 %q[u], %q[u], %[p]\n\t"
      "vadd.f32 %q[a], %q[a], %q[t]\n\t"
      "vmul.f32 %q[v], %q[v], %[p]\n\t"
      "vldrw.u32 %q[t], [%[w], #48]\n\t"
      "vadd.f32 %q[b], %q[b], %q[u]\n\t"
      "vmul.f32 %q[t], %q[t], %[p]\n\t"
      "vldrw.u32 %q[u], [%[w1]]\n\t"
      "vadd.f32 %q[c], %q[c], %q[v]\n\t"
      "vmul.f32 %q[u], %q[u], %[q]\n\t"
      "vldrw.u32 %q[v], [%[w1], #16]\n\t"
      "vadd.f32 %q[d], %q[d], %q[t]\n\t"
      "vmul.f32 %q[v], %q[v], %[q]\n\t"
      "vldrw.u32 %q[t], [%[w1], #32]\n\t"
      "vadd.f32 %q[a], %q[a], %q[u]\n\t"
      "vmul.f32 %q[t], %q[t], %[q]\n\t"
      "vldrw.u32 %q[u], [%[w1], #48]\n\t"
      "vadd.f32 %q[b], %q[b], %q[v]\n\t"
      "vmul.f32 %q[u], %q[u], %[q]\n\t"
      "vadd.f32 %q[c], %q[c], %q[t]\n\t"
      "vadd.f32 %q[d], %q[d], %q[u]"
      : [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d), [t] "=&w"(t), [u] "=&w"(u),
        [v] "=&w"(v), [p] "=&r"(p), [q] "=&r"(q)
      : [x] "r"(x), [w] "r"(w), [w1] "r"(w1), "m"(*reinterpret_cast<const Pair*>(x)),
        "m"(*reinterpret_cast<const Row*>(w)), "m"(*reinterpret_cast<const Row*>(w1)));
  tile.first.first.v = a;
  rest.first.v = b;
  rest.rest.first.v = c;
  rest.rest.rest.first.v = d;
}

// Four pixels of one vector of columns.
ETCH_INLINE void add_two(Tile<4, 1, 4>& tile, const float* x, ptrdiff_t x_pixel, const float* w,
                         ptrdiff_t width) {
  typedef Floats<4>::Vector Vector;
  typedef float Pair[2];
  typedef float Row[4];
  const float *const x1 = x + x_pixel, *const x2 = x1 + x_pixel, *const x3 = x2 + x_pixel;
  const float* const w1 = w + width;
  Tile<4, 1, 3>& rest = tile.rest;
  Vector a = tile.first.first.v, b = rest.first.first.v;
  Vector c = rest.rest.first.first.v, d = rest.rest.rest.first.first.v;
  Vector t, u, v, z;
  float p0, p1, q0, q1;
  __asm__(
      "vldrw.u32 %q[t], [%[w]]\n\t"
      "ldrd %[p0], %[p1], [%[x]]\n\t"
      "vmul.f32 %q[v], %q[t], %[p0]\n\t"
      "vldrw.u32 %q[u], [%[w1]]\n\t"
      "vmul.f32 %q[z], %q[u], %[p1]\n\t"
      "ldrd %[q0], %[q1], [%[x1]]\n\t"
      "vadd.f32 %q[a], %q[a], %q[v]\n\t"
      "vmul.f32 %q[v], %q[t], %[q0]\n\t"
      "vadd.f32 %q[a], %q[a], %q[z]\n\t"
      "ldrd %[p0], %[p1], [%[x2]]\n\t"
      "vmul.f32 %q[z], %q[u], %[q1]\n\t"
      "vadd.f32 %q[b], %q[b], %q[v]\n\t"
      "vmul.f32 %q[v], %q[t], %[p0]\n\t"
      "ldrd %[q0], %[q1], [%[x3]]\n\t"
      "vadd.f32 %q[b], %q[b], %q[z]\n\t"
      "vmul.f32 %q[z], %q[u], %[p1]\n\t"
      "vadd.f32 %q[c], %q[c], %q[v]\n\t"
      "vmul.f32 %q[t], %q[t], %[q0]\n\t"
      "vadd.f32 %q[c], %q[c], %q[z]\n\t"
      "vmul.f32 %q[u], %q[u], %[q1]\n\t"
      "vadd.f32 %q[d], %q[d], %q[t]\n\t"
      "vadd.f32 %q[d], %q[d], %q[u]"
      : [a] "+w"(a), [b] "+w"(b), [c] "+w"(c), [d] "+w"(d), [t] "=&w"(t), [u] "=&w"(u),
        [v] "=&w"(v), [z] "=&w"(z), [p0] "=&r"(p0), [p1] "=&r"(p1), [q0] "=&r"(q0), [q1] "=&r"(q1)
      : [x] "r"(x), [x1] "r"(x1), [x2] "r"(x2), [x3] "r"(x3), [w] "r"(w), [w1] "r"(w1),
        "m"(*reinterpret_cast<const Pair*>(x)), "m"(*reinterpret_cast<const Pair*>(x1)),
        "m"(*reinterpret_cast<const Pair*>(x2)), "m"(*reinterpret_cast<const Pair*>(x3)),
        "m"(*reinterpret_cast<const Row*>(w)), "m"(*reinterpret_cast<const Row*>(w1)));
  tile.first.first.v = a;
  rest.first.first.v = b;
  rest.rest.first.first.v = c;
  rest.rest.rest.first.first.v = d;
}

}  // namespace rt
}  // namespace etch
#endif
