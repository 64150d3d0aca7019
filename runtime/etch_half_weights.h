// Float convolutions, matrix products and tables whose constant numbers are kept as float16 or
// bfloat16 and widened where they are read. That is exact, and sums are those of
// etch_float_products.h in the same order: the same bits as of weights kept as floats.
//
//   half_product()   widens a weight where a tile multiplies it: where that is an instruction
//   widened_conv()   widens a few columns of all depth before all their positions are computed
//   gather_halves()  rows of a table that indices name
//
// Weights are in panels of columns, as floats would be (etch_float_pack.h). C++17, freestanding, no
// heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_indirect.h"
#include "etch_float_products.h"
#include "etch_half.h"
#include "etch_select.h"

namespace etch {
namespace rt {

static constexpr bool is_float16(WidenHalf) { return true; }
static constexpr bool is_float16(WidenBfloat) { return false; }

// Form::load(); of 4 lanes, too, by an instruction where there is one.
template <class Form, int lanes>
ETCH_INLINE Floats<lanes> load_widened(const uint16_t* p) {
  if constexpr (lanes == 1) {
    return {Form::of(*p)};
  } else {
#if defined(__F16C__)
    if constexpr (lanes == 4 && is_float16(Form{}))
      return {_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))};
#elif defined(ETCH_ARM_LANES)
    if constexpr (lanes == 4 && is_float16(Form{})) {
      const float32x4_t all = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
      Floats<4> out;
      ETCH_MEMCPY(&out, &all, sizeof out);
      return out;
    }
#endif
#if defined(__GNUC__)
    return Form::template load<lanes>(p);
#endif
  }
}

// ---- products ----

template <class Form, int lanes, int count>
ETCH_INLINE void load_widened(Columns<lanes, count>& x, const uint16_t* p) {
  x.first = load_widened<Form, lanes>(p);
  if constexpr (count > 1) load_widened<Form>(x.rest, p + lanes);
}

using HalfRow = RowOf<uint16_t>;

// A function of its own: among others that are inlined its sums do not stay in registers.
template <class Steps, class Form, int lanes, int count, int pixels>
ETCH_OWN_REGISTERS static void half_tile(const FloatConvShape& s, const FloatEnd& end,
                                         const HalfRow& row, int32_t out) {
  const ptrdiff_t x_pixel = next_input(s), y_pixel = next_output(s);
  const float* x = row.x + out * x_pixel;
  const uint16_t* w = row.w;
  Tile<lanes, count, pixels> tile;
  clear(tile);
  for (int32_t k = 0; k < s.in; ++k, x += s.x_channel, w += row.width) {
    Columns<lanes, count> each;
    load_widened<Form>(each, w);
    add_scaled<Steps>(tile, x, x_pixel, each);
  }
  end_sums<Steps>(tile);
  finish(tile, end, row.c + out * end.c_row, row.y + out * y_pixel, y_pixel, s.y_channel);
}

// All rows from `out` on, for `count` vectors of columns: tiles of `pixels`, then smaller ones.
template <class Steps, class Form, int lanes, int count, int pixels>
static inline void half_rows(const FloatConvShape& s, const FloatEnd& end, const HalfRow& row,
                             int32_t out = 0) {
  for (; out + pixels <= s.axis[2].out; out += pixels)
    half_tile<Steps, Form, lanes, count, pixels>(s, end, row, out);
  if constexpr (pixels > 1) half_rows<Steps, Form, lanes, count, pixels / 2>(s, end, row, out);
}

// The same in tiles of about the same size, at most `most`: few rows after large tiles would wait
// for their sums.
template <class Steps, class Form, int lanes, int count, int most>
static inline void even_half_rows(const FloatConvShape& s, const FloatEnd& end,
                                  const HalfRow& row) {
  for_even_tiles<most, 1>(s.axis[2].out, [&](int32_t first, auto width) {
    half_tile<Steps, Form, lanes, count, decltype(width)::value>(s, end, row, first);
  });
}

// `columns` columns of a panel. Two vectors and many rows: what is widened serves all of these. One
// or two rows need four vectors, so that enough sums do not wait for each other.
template <class Steps, class Form, int lanes>
static inline void half_columns(const FloatConvShape& s, const FloatEnd& end, HalfRow row,
                                int32_t columns) {
  if constexpr (lanes == kFloatLanes && lanes > 1) {
    constexpr int kRows = tile_pixels(2) < 8 ? tile_pixels(2) : 8;
    if (s.axis[2].out <= 2) {
      for (; columns >= 4 * lanes; columns -= 4 * lanes) {
        half_rows<Steps, Form, lanes, 4, 2>(s, end, row);
        advance(row, 4 * lanes, end, s.y_channel);
      }
    }
    for (; columns >= 2 * lanes; columns -= 2 * lanes) {
      even_half_rows<Steps, Form, lanes, 2, kRows>(s, end, row);
      advance(row, 2 * lanes, end, s.y_channel);
    }
  } else if constexpr (lanes == kFloatLanes && kSomeColumns > 1) {
    for (; columns >= kSomeColumns; columns -= kSomeColumns) {
      half_rows<Steps, Form, lanes, kSomeColumns, tile_pixels(kSomeColumns)>(s, end, row);
      advance(row, kSomeColumns, end, s.y_channel);
    }
  }
  for (; columns >= lanes; columns -= lanes) {
    half_rows<Steps, Form, lanes, 1, tile_pixels(1)>(s, end, row);
    advance(row, lanes, end, s.y_channel);
  }
  if constexpr (lanes > 1) half_columns<Steps, Form, narrower(lanes)>(s, end, row, columns);
}

// One tap, on the last axis alone, all inside: products of matrices, and pointwise convolutions.
template <class Form, class Steps = Separate>
static inline void half_product(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                const uint16_t* w, const float* c, float* y) {
  const int32_t panel = s.panel != 0 ? s.panel : kPanel;
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t g = 0; g < s.group; ++g) {
      for (int32_t first = 0; first < s.out; first += panel) {
        const int32_t columns = s.out - first < panel ? s.out - first : panel;
        const ptrdiff_t column = static_cast<ptrdiff_t>(g) * s.out + first;
        const HalfRow row{x + n * s.x_image + g * s.in * s.x_channel, w + column * s.in, columns,
                          c + column * end.c_column, y + n * s.y_image + column * s.y_channel};
        half_columns<Steps, Form, kFloatLanes>(s, end, row, columns);
      }
    }
  }
}

// ---- columns that are widened before they are multiplied ----

// `rows` rows of `columns` numbers, `width` apart, side by side.
template <class Form>
static inline void widen_block(const uint16_t* from, ptrdiff_t width, ptrdiff_t columns,
                               ptrdiff_t rows, float* to) {
  if (columns == width) return widen<Form, kFloatLanes>(from, 1, to, columns * rows);
  for (ptrdiff_t k = 0; k < rows; ++k, from += width, to += columns)
    widen<Form, kFloatLanes>(from, 1, to, columns);
}

// Calls body(row, columns) for every image and every `most` columns of a panel, widened; `most`
// divides kPanel.
template <class Form, class Body>
ETCH_INLINE void for_each_widened(const FloatConvShape& s, const FloatEnd& end, int32_t most,
                                  const FloatRow& all, const uint16_t* w, float* widened,
                                  Body body) {
  const ptrdiff_t taps = static_cast<ptrdiff_t>(s.axis[0].kernel) * s.axis[1].kernel;
  const ptrdiff_t depth = taps * s.axis[2].kernel * s.in;
  for (int32_t g = 0; g < s.group; ++g) {
    for (int32_t first = 0; first < s.out; first += most) {
      const int32_t before = first % kPanel;  // in the panel
      const int32_t left = s.out - first, in_panel = left + before;
      const int32_t columns = left < most ? left : most;
      const ptrdiff_t column = static_cast<ptrdiff_t>(g) * s.out + first;
      widen_block<Form>(w + (column - before) * depth + before,
                        in_panel < kPanel ? in_panel : kPanel, columns, depth, widened);
      for (int32_t n = 0; n < s.batch; ++n) {
        body(FloatRow{all.x + n * s.x_image + g * s.in * s.x_channel, widened, columns,
                      all.c + column * end.c_column, all.y + n * s.y_image + column * s.y_channel},
             columns);
      }
    }
  }
}

// float_conv(); `widened` is memory for `most` columns of all depth.
template <class Form, class Steps = Separate>
static inline void widened_conv(const FloatConvShape& s, const FloatEnd& end, int32_t most,
                                const float* x, const uint16_t* w, const float* c, float* y,
                                float* widened) {
  const Interior interior = interior_of(s.axis[s.along], s.transposed);
  for_each_widened<Form>(s, end, most, {x, nullptr, 0, c, y}, w, widened,
                         [&](const FloatRow& row, int32_t columns) {
                           if (has_turned_border(s, end, interior)) {
                             rows_inside<Steps>(s, end, row, interior, columns);
                             border_in_columns<Steps>(s, end, row, interior, columns);
                           } else {
                             rows_of_tiles<Steps>(s, end, row, interior, columns);
                           }
                         });
}

// ---- tables ----

// gather() of slices of `inner` numbers.
template <class Form, class Index>
static inline void gather_halves(const uint16_t* x, const Index* indices, float* y, int outer,
                                 int size, int count, int inner) {
  for (int i = 0; i < outer; ++i) {
    for (int k = 0; k < count; ++k, y += inner) {
      const ptrdiff_t slice = ptrdiff_t{i} * size + position_of(indices[k], size);
      widen<Form, kFloatLanes>(x + slice * inner, 1, y, inner);
    }
  }
}

}  // namespace rt
}  // namespace etch
