// Float convolutions whose tiles take pixels wherever they are: those of small maps, whose lines
// have fewer pixels than a tile or leave a few over. A tile keeps the address of each of its pixels
// for one kernel position at a time; in the padding that is a line of zeros. The sums are those of
// etch_float_products.h, in the same order: products with zeros change none as long as weights are
// finite. (A sum that starts at 0 is never -0.)
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_products.h"

namespace etch {
namespace rt {

// The positions in x that tap 0 of each of `pixels` outputs reads, also outside of it.
template <int pixels>
struct PixelPlaces {
  int32_t h, w;
  PixelPlaces<pixels - 1> rest;
};
template <>
struct PixelPlaces<1> {
  int32_t h, w;
};

// What each of them reads at one tap.
template <int pixels>
struct PixelSources {
  const float* first;
  PixelSources<pixels - 1> rest;
};
template <>
struct PixelSources<1> {
  const float* first;
};

// Pixels per tile of `count` vectors: an address each, in a register.
static constexpr int indirect_pixels(int count) {
  return tile_pixels(count) < 8 ? tile_pixels(count) : 8;
}

// Pixels of the smallest tile: a tile or more have any number from this on in tiles of about the
// same size.
static constexpr int least_pixels(int most) { return (most + 1) / 2; }

// The least number of outputs of an image.
static constexpr int kLeastIndirect = least_pixels(indirect_pixels(1));

// The outputs are numbered line by line.
template <int pixels>
ETCH_INLINE void set_places(PixelPlaces<pixels>& places, const FloatConvShape& s, int32_t h,
                            int32_t w) {
  const ConvAxis &lines = s.axis[1], &line = s.axis[2];
  places.h = h * lines.stride - lines.pad;
  places.w = w * line.stride - line.pad;
  if constexpr (pixels > 1) {
    const bool last = w + 1 == line.out;
    set_places(places.rest, s, last ? h + 1 : h, last ? 0 : w + 1);
  }
}

ETCH_INLINE bool is_position(int32_t at, int32_t size) {
  return static_cast<uint32_t>(at) < static_cast<uint32_t>(size);
}

// Sets the addresses for one tap; returns whether one of them is in x.
template <int pixels>
ETCH_INLINE bool set_sources(PixelSources<pixels>& sources, const PixelPlaces<pixels>& places,
                             const FloatConvShape& s, int32_t h, int32_t w, const float* x,
                             const float* zeros) {
  const ConvAxis &lines = s.axis[1], &line = s.axis[2];
  const bool inside = is_position(places.h + h, lines.in) && is_position(places.w + w, line.in);
  const ptrdiff_t at = (places.h + h) * lines.x_step + (places.w + w) * line.x_step;
  sources.first = inside ? x + at : zeros;
  if constexpr (pixels == 1) {
    return inside;
  } else {
    const bool others = set_sources(sources.rest, places.rest, s, h, w, x, zeros);
    return inside || others;
  }
}

// tile[p][j] += source[p][c] * w[j]
template <class Steps, int lanes, int count, int pixels>
ETCH_INLINE void add_sources(Tile<lanes, count, pixels>& tile, const PixelSources<pixels>& from,
                             ptrdiff_t c, const float* w) {
  add_scaled<Steps>(tile.first, from.first + c, w);
  if constexpr (pixels > 1) add_sources<Steps>(tile.rest, from.rest, c, w);
}
template <class Steps, int lanes, int pixels>
ETCH_INLINE void add_sources(Tile<lanes, 1, pixels>& tile, const PixelSources<pixels>& from,
                             ptrdiff_t c, const Floats<lanes>& w) {
  tile.first.first = Steps::add_one(tile.first.first, from.first + c, w);
  if constexpr (pixels > 1) add_sources<Steps>(tile.rest, from.rest, c, w);
}

// Calls add(sources, channel, weights) for the channels of the taps of which one pixel of the tile
// is in x.
template <int pixels, class Add>
ETCH_INLINE void for_each_source(const FloatConvShape& s, const FloatRow& row, const float* zeros,
                                 int32_t first, Add add) {
  PixelPlaces<pixels> places;
  set_places(places, s, first / s.axis[2].out, first % s.axis[2].out);
  const float* w = row.w;
  const ptrdiff_t width = row.width, in = s.in, tap = in * width;
  for (int32_t i = 0; i < s.axis[1].kernel; ++i) {
    for (int32_t j = 0; j < s.axis[2].kernel; ++j, w += tap) {
      PixelSources<pixels> from;
      if (!set_sources(from, places, s, i * s.axis[1].dilation, j * s.axis[2].dilation, row.x,
                       zeros))
        continue;
      for (ptrdiff_t c = 0; c < in; ++c) add(from, c, w + c * width);
    }
  }
}

// `pixels` outputs from number `first` on, all of one image.
template <class Steps, int lanes, int count, int pixels>
static inline void indirect_tile(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                                 const float* zeros, int32_t first) {
  Tile<lanes, count, pixels> tile;
  clear(tile);
  for_each_source<pixels>(s, row, zeros, first,
                          [&](const PixelSources<pixels>& from, ptrdiff_t c, const float* w) {
                            add_sources<Steps>(tile, from, c, w);
                          });
  end_sums<Steps>(tile);
  const ptrdiff_t y_pixel = s.axis[2].y_step;
  finish(tile, end, row.c, row.y + first * y_pixel, y_pixel, s.y_channel);
}

// The same for less than a vector of columns.
template <class Steps, int lanes, int pixels>
static inline void indirect_tail_tile(const FloatConvShape& s, const FloatEnd& end,
                                      const FloatRow& row, const float* zeros, int32_t first,
                                      int32_t columns) {
  Tile<lanes, 1, pixels> tile;
  clear(tile);
  for_each_source<pixels>(s, row, zeros, first,
                          [&](const PixelSources<pixels>& from, ptrdiff_t c, const float* w) {
                            add_sources<Steps>(tile, from, c, load_some<lanes>(w, 1, columns));
                          });
  end_sums<Steps>(tile);
  const Floats<lanes> added =
      end.c_column == 0 ? all_lanes<lanes>(*row.c) : load_some<lanes>(row.c, 1, columns);
  const ptrdiff_t y_pixel = s.axis[2].y_step;
  finish_some(tile, end, added, row.y + first * y_pixel, y_pixel, columns);
}

// All pixels of an image, see float_columns().
struct IndirectTiles {
  const FloatConvShape& s;
  const FloatEnd& end;
  const float* zeros;
};
ETCH_INLINE int32_t outputs_of(const IndirectTiles& tiles) {
  return tiles.s.axis[1].out * tiles.s.axis[2].out;
}
template <class Steps, int lanes, int count>
static inline void whole_tiles(const IndirectTiles& tiles, const FloatRow& row) {
  for_even_tiles<indirect_pixels(count), least_pixels(indirect_pixels(count))>(
      outputs_of(tiles), [&](int32_t first, auto width) {
        indirect_tile<Steps, lanes, count, decltype(width)::value>(tiles.s, tiles.end, row,
                                                                   tiles.zeros, first);
      });
}
template <class Steps, int lanes>
static inline void part_tiles(const IndirectTiles& tiles, const FloatRow& row, int32_t columns) {
  for_even_tiles<indirect_pixels(1), kLeastIndirect>(
      outputs_of(tiles), [&](int32_t first, auto width) {
        indirect_tail_tile<Steps, lanes, decltype(width)::value>(tiles.s, tiles.end, row,
                                                                 tiles.zeros, first, columns);
      });
}

// Conv of images (axis 0 has one position) with at least kLeastIndirect outputs, whose lines follow
// each other; channels of x are neighbours, and what is added belongs to columns.
// `zeros` is memory for s.in floats.
template <class Steps = Separate>
static inline void float_indirect(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                  const float* w, const float* c, float* y, float* zeros) {
  const ptrdiff_t depth = static_cast<ptrdiff_t>(s.axis[1].kernel) * s.axis[2].kernel * s.in;
  for (int32_t i = 0; i < s.in; ++i) zeros[i] = 0.0f;
  const IndirectTiles tiles{s, end, zeros};
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      for (int32_t first = 0; first < s.out; first += kPanel) {
        const int32_t columns = s.out - first < kPanel ? s.out - first : kPanel;
        const ptrdiff_t column = static_cast<ptrdiff_t>(g) * s.out + first;
        const FloatRow row{x + n * s.x_image + g * s.in, w + column * depth, columns,
                           c + column * end.c_column, y + n * s.y_image + column * s.y_channel};
        float_columns<Steps, kFloatLanes>(s, end, row, columns, tiles);
      }
    }
  }
}

}  // namespace rt
}  // namespace etch
