// Tiles of float sums in registers, a few pixels times a few vectors of columns, and how a tile
// ends: factors, what is added, ReLU. Convolutions and products (etch_float_products.h,
// etch_float_planes.h) sum into them.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_lanes.h"
#include "etch_float_steps.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// y = fl(fl(alpha * sum) + fl(beta * c)); c belongs to a column, a row (position on the last axis),
// both or neither. Nothing to add is -0, which changes nothing. With relu 1, 0 stands for what is
// below 0, and with relu 2 also `most`, at least 0, for what is above that.
struct FloatEnd {
  float alpha, beta;
  ptrdiff_t c_row, c_column;  // c_column is 0 or 1 unless c has gaps
  int32_t relu;
  float most = 0.0f;
};

#if defined(__GNUC__)
#define ETCH_OWN_REGISTERS __attribute__((noinline))
#else
#define ETCH_OWN_REGISTERS
#endif

// `pixels` times `count` vectors of sums.
template <int lanes, int count, int pixels>
struct Tile {
  Columns<lanes, count> first;
  Tile<lanes, count, pixels - 1> rest;
};
template <int lanes, int count>
struct Tile<lanes, count, 1> {
  Columns<lanes, count> first;
};

template <int lanes, int count, int pixels>
ETCH_INLINE void clear(Tile<lanes, count, pixels>& tile) {
  clear(tile.first);
  if constexpr (pixels > 1) clear(tile.rest);
}

template <class Steps, int lanes, int count, int pixels>
ETCH_INLINE void add_scaled(Tile<lanes, count, pixels>& tile, const float* x, ptrdiff_t x_pixel,
                            const float* w) {
  add_scaled<Steps>(tile.first, x, w);
  if constexpr (pixels > 1) add_scaled<Steps>(tile.rest, x + x_pixel, x_pixel, w);
}

// sums[j] += *x * w[j], of weights in registers.
template <class Steps, int lanes, int count>
ETCH_INLINE void add_scaled(Columns<lanes, count>& sums, const float* x,
                            const Columns<lanes, count>& w) {
  sums.first = Steps::add_one(sums.first, x, w.first);
  if constexpr (count > 1) add_scaled<Steps>(sums.rest, x, w.rest);
}

// tile[p][j] += x[p * x_pixel] * w[j]
template <class Steps, int lanes, int count, int pixels>
ETCH_INLINE void add_scaled(Tile<lanes, count, pixels>& tile, const float* x, ptrdiff_t x_pixel,
                            const Columns<lanes, count>& w) {
  add_scaled<Steps>(tile.first, x, w);
  if constexpr (pixels > 1) add_scaled<Steps>(tile.rest, x + x_pixel, x_pixel, w);
}

template <class Steps, int lanes, int count, int pixels>
ETCH_INLINE void end_sums(Tile<lanes, count, pixels>& tile) {
  end_sums<Steps>(tile.first);
  if constexpr (pixels > 1) end_sums<Steps>(tile.rest);
}

template <class Steps, int lanes, int count, int pixels>
ETCH_INLINE void add_products(Tile<lanes, count, pixels>& tile, const float* x, ptrdiff_t x_pixel,
                              const float* w) {
  add_products<Steps>(tile.first, x, w);
  if constexpr (pixels > 1) add_products<Steps>(tile.rest, x + x_pixel, x_pixel, w);
}

template <int lanes, int count>
ETCH_INLINE void load_columns(Columns<lanes, count>& x, const float* p, ptrdiff_t step) {
  x.first = load_or_repeat<lanes>(p, step);
  if constexpr (count > 1) load_columns(x.rest, p + lanes * step, step);
}

#if defined(ETCH_ARM_LANES)
// sums[j] += x[k] * w[j]. Left alone, gcc multiplies for several channels before it adds, with more
// products than registers.
template <class Steps, int k, int count>
ETCH_INLINE void add_lane(Columns<4, count>& sums, const Floats<4>& x, const Columns<4, count>& w) {
  if constexpr (is_fused(Steps{})) {
    __asm__("fmla %0.4s, %1.4s, %2.s[%c3]" : "+w"(sums.first.v) : "w"(w.first.v), "w"(x.v), "i"(k));
    if constexpr (count > 1) add_lane<Steps, k>(sums.rest, x, w.rest);
  } else if constexpr (count == 4) {
    Columns<4, 3>& s1 = sums.rest;
    Columns<4, 2>& s2 = s1.rest;
    Floats<4> a, b, c, d;
    __asm__(
        "fmul %4.4s, %9.4s, %8.s[%c13]\n\t"
        "fmul %5.4s, %10.4s, %8.s[%c13]\n\t"
        "fmul %6.4s, %11.4s, %8.s[%c13]\n\t"
        "fmul %7.4s, %12.4s, %8.s[%c13]\n\t"
        "fadd %0.4s, %0.4s, %4.4s\n\t"
        "fadd %1.4s, %1.4s, %5.4s\n\t"
        "fadd %2.4s, %2.4s, %6.4s\n\t"
        "fadd %3.4s, %3.4s, %7.4s"
        : "+w"(sums.first.v), "+w"(s1.first.v), "+w"(s2.first.v), "+w"(s2.rest.first.v), "=&w"(a.v),
          "=&w"(b.v), "=&w"(c.v), "=&w"(d.v)
        : "w"(x.v), "w"(w.first.v), "w"(w.rest.first.v), "w"(w.rest.rest.first.v),
          "w"(w.rest.rest.rest.first.v), "i"(k));
  } else {
    Floats<4> each;
    __asm__(
        "fmul %1.4s, %2.4s, %3.s[%c4]\n\t"
        "fadd %0.4s, %0.4s, %1.4s"
        : "+w"(sums.first.v), "=&w"(each.v)
        : "w"(w.first.v), "w"(x.v), "i"(k));
    if constexpr (count > 1) add_lane<Steps, k>(sums.rest, x, w.rest);
  }
}

template <class Steps, int k, int count, int pixels>
ETCH_INLINE void add_lane(Tile<4, count, pixels>& tile, const Columns<4, pixels>& x,
                          const Columns<4, count>& w) {
  add_lane<Steps, k>(tile.first, x.first, w);
  if constexpr (pixels > 1) add_lane<Steps, k>(tile.rest, x.rest, w);
}

template <class Steps, int k, int count, int pixels>
ETCH_INLINE void add_lanes(Tile<4, count, pixels>& tile, const Columns<4, pixels>& x,
                           const float* w, ptrdiff_t width) {
  Columns<4, count> row;
  load_columns(row, w, 1);
  add_lane<Steps, k>(tile, x, row);
  if constexpr (k < 3) add_lanes<Steps, k + 1>(tile, x, w + width, width);
}

template <int pixels>
ETCH_INLINE void load_pixels(Columns<4, pixels>& x, const float* p, ptrdiff_t x_pixel) {
  x.first = load<4>(p);
  if constexpr (pixels > 1) load_pixels(x.rest, p + x_pixel, x_pixel);
}

// Four channels, neighbours of each other: instructions take them from one register.
template <class Steps, int count, int pixels>
ETCH_INLINE void add_four(Tile<4, count, pixels>& tile, const float* x, ptrdiff_t x_pixel,
                          const float* w, ptrdiff_t width) {
  Columns<4, pixels> each;
  load_pixels(each, x, x_pixel);
  add_lanes<Steps, 0>(tile, each, w, width);
}
#endif

// Without vectors tiles have one or four columns; without an FPU, where no sum is in a register of
// its own, always one.
#if defined(ETCH_SOFT_FLOAT)
constexpr int kSomeColumns = 1;

template <class Steps>
ETCH_INLINE void add_scaled(Tile<1, 1, 1>& tile, const float* x, ptrdiff_t, const float* w) {
  float& sum = tile.first.first.v;
  sum = is_fused(Steps{}) ? fma_exact(*x, *w, sum) : inlined_sum(sum, inlined_product(*x, *w));
}
#else
constexpr int kSomeColumns = 4;
#endif

#if defined(ETCH_ARM_LANES)
constexpr int kSumsOfFour = 16;
#else
constexpr int kSumsOfFour = 8;
#endif

// Pixels per tile of `count` vectors: their sums fill most of the registers of AVX-512 or AVX, or
// half of those that others have, or of 32 without vectors.
static constexpr int tile_pixels(int count) {
  if (kFloatLanes == 1) return kSomeColumns > 1 && count <= 4 ? 4 : 1;
  const int sums = kFloatLanes == 16 ? 24 : (kFloatLanes == 8 ? 12 : kSumsOfFour);
  const int most = kFloatLanes == 16 ? 12 : 8;
  return sums / count < most ? sums / count : most;
}

// Columns at a time and pixels where floats are in checked vectors (etch_checked_floats.h), of
// which Helium has eight and NEON sixteen. Sums that they cannot have are rare: one by one in
// little code.
#if defined(ETCH_CHECKED_FLOATS)
constexpr int kSingleColumns = 1;
static constexpr int tile_pixels(int count, int lanes) {
  if (lanes == 1 || count >= 4) return 1;
#if defined(ETCH_NEON_FLOATS)
  return 4;
#else
  return 4 / count;
#endif
}
#else
constexpr int kSingleColumns = kSomeColumns;
static constexpr int tile_pixels(int count, int) { return tile_pixels(count); }
#endif

// 0 for what is below 0.
template <int lanes>
ETCH_INLINE Floats<lanes> not_negative(const Floats<lanes>& x) {
  const Floats<lanes> zero = all_lanes<lanes>(0.0f);
  return choose(below(x, zero), zero, x);
}

template <int lanes>
ETCH_INLINE Floats<lanes> at_most(const Floats<lanes>& most, const Floats<lanes>& x) {
  return choose(below(most, x), most, x);
}

// The ReLU of an end.
template <int lanes>
ETCH_INLINE Floats<lanes> limited(const Floats<lanes>& x, const FloatEnd& end) {
  if (end.relu == 0) return x;
  const Floats<lanes> least = not_negative(x);
  return end.relu == 2 ? at_most(all_lanes<lanes>(end.most), least) : least;
}

// One vector of results.
template <int lanes>
ETCH_INLINE void finish(const Floats<lanes>& sums, const FloatEnd& end, const float* c, float* y,
                        ptrdiff_t y_channel) {
  Floats<lanes> added = all_lanes<lanes>(*c);
  if (end.c_column == 1) {
    added = load<lanes>(c);
  } else if (end.c_column != 0) {
    float each[static_cast<size_t>(lanes)];
    for (int i = 0; i < lanes; ++i) each[i] = c[i * end.c_column];
    added = load<lanes>(each);
  }
  Floats<lanes> result =
      sum(product(sums, all_lanes<lanes>(end.alpha)), product(added, all_lanes<lanes>(end.beta)));
  result = limited(result, end);
  if (y_channel == 1) {
    store(y, result);
    return;
  }
  float each[static_cast<size_t>(lanes)];
  store(each, result);
  for (int i = 0; i < lanes; ++i) y[i * y_channel] = each[i];
}

// The usual end: no factors, columns side by side with one c each (or one for all).
ETCH_INLINE bool is_plain(const FloatEnd& end, ptrdiff_t y_channel) {
  return end.alpha == 1.0f && end.beta == 1.0f && end.c_row == 0 && is_dense(end.c_column) &&
         y_channel == 1;
}

// `limit` is applied to results.
template <int lanes, int count, class Limit>
ETCH_INLINE void finish_plain(const Columns<lanes, count>& sums, const Columns<lanes, count>& c,
                              float* y, Limit limit) {
  store(y, limit(sum(sums.first, c.first)));
  if constexpr (count > 1) finish_plain(sums.rest, c.rest, y + lanes, limit);
}

template <int lanes, int count, int pixels, class Limit>
ETCH_INLINE void finish_plain(const Tile<lanes, count, pixels>& tile,
                              const Columns<lanes, count>& c, float* y, ptrdiff_t y_pixel,
                              Limit limit) {
  finish_plain(tile.first, c, y, limit);
  if constexpr (pixels > 1) finish_plain(tile.rest, c, y + y_pixel, y_pixel, limit);
}

// Any other end, from memory: one function for tiles of all sizes keeps the code small.
template <int lanes>
static inline void finish_stored(const float* sums, int32_t pixels, int32_t count,
                                 const FloatEnd& end, const float* c, float* y, ptrdiff_t y_pixel,
                                 ptrdiff_t y_channel) {
  for (int32_t p = 0; p < pixels; ++p) {
    for (int32_t v = 0; v < count; ++v) {
      const ptrdiff_t column = static_cast<ptrdiff_t>(v) * lanes;
      finish(load<lanes>(sums), end, c + p * end.c_row + column * end.c_column,
             y + p * y_pixel + column * y_channel, y_channel);
      sums += lanes;
    }
  }
}

template <int lanes, int count>
ETCH_INLINE void store_sums(const Columns<lanes, count>& x, float* p) {
  store(p, x.first);
  if constexpr (count > 1) store_sums(x.rest, p + lanes);
}

template <int lanes, int count, int pixels>
ETCH_INLINE void store_sums(const Tile<lanes, count, pixels>& tile, float* p) {
  store_sums(tile.first, p);
  if constexpr (pixels > 1) store_sums(tile.rest, p + count * lanes);
}

template <int lanes, int count, int pixels>
ETCH_INLINE void finish(const Tile<lanes, count, pixels>& tile, const FloatEnd& end, const float* c,
                        float* y, ptrdiff_t y_pixel, ptrdiff_t y_channel) {
  if (!is_plain(end, y_channel)) {
    float sums[static_cast<size_t>(lanes * count * pixels)];
    store_sums(tile, sums);
    finish_stored<lanes>(sums, pixels, count, end, c, y, y_pixel, y_channel);
    return;
  }
  Columns<lanes, count> added;
  load_columns(added, c, end.c_column);
  typedef Floats<lanes> Vector;
  if (end.relu == 0) {
    finish_plain(tile, added, y, y_pixel, [](const Vector& x) { return x; });
  } else if (end.relu == 1) {
    finish_plain(tile, added, y, y_pixel, [](const Vector& x) { return not_negative(x); });
  } else {
    const Vector most = all_lanes<lanes>(end.most);
    finish_plain(tile, added, y, y_pixel,
                 [&most](const Vector& x) { return at_most(most, not_negative(x)); });
  }
}

}  // namespace rt
}  // namespace etch
