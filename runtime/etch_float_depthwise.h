// Float convolutions with one input and one output channel per group, of tensors whose channels are
// neighbours: vectors run along the channels. The sums are those of etch_float_products.h.
// C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float_products.h"

namespace etch {
namespace rt {

// `count` vectors of channels of `pixels` neighbours, see float_tile(); a row's width is the number
// of channels.
template <class Steps, int lanes, int count, int pixels>
static inline void depthwise_tile(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                                  const Window& window, int32_t out) {
  const ConvAxis& axis = s.axis[s.along];
  const ptrdiff_t x_pixel = next_input(s);
  const ptrdiff_t y_pixel = next_output(s);
  Tile<lanes, count, pixels> sums;
  clear(sums);
  for_each_tap(s.axis, window, [&](ptrdiff_t at, int32_t tap) {
    add_products<Steps>(sums, row.x + at, x_pixel, row.w + static_cast<ptrdiff_t>(tap) * row.width);
  });
  end_sums<Steps>(sums);
  finish(sums, end, row.c, row.y + out * axis.y_step, y_pixel, 1);
}

// `channels` channels of all positions on the axis of tiles.
template <class Steps, int lanes, int count = (kFloatLanes > 1 ? 4 : kSingleColumns)>
static inline void depthwise_channels(const FloatConvShape& s, const FloatEnd& end,
                                      const FloatRow& first, const Interior& interior,
                                      int32_t channels, const Window& around) {
  FloatRow row = first;
  Window window = around;
  for (; channels >= count * lanes; channels -= count * lanes) {
    for_each_tile<tile_pixels(count, lanes)>(s, interior, window, [&](int32_t out, auto width) {
      depthwise_tile<Steps, lanes, count, decltype(width)::value>(s, end, row, window, out);
    });
    row.x += count * lanes;
    advance(row, count * lanes, end, 1);
  }
  if constexpr (count > 1) {
    depthwise_channels<Steps, lanes, 1>(s, end, row, interior, channels, window);
  } else if constexpr (lanes > 1) {
    depthwise_channels<Steps, narrower(lanes), 1>(s, end, row, interior, channels, window);
  }
}

// All channels, in vectors if they are exact.
template <class Steps>
static inline void all_channels(const FloatConvShape& s, const FloatEnd& end, const FloatRow& row,
                                const Interior& interior, const Window& window) {
#if defined(ETCH_CHECKED_FLOATS)
  const uint32_t before = begin_check();
  depthwise_channels<Steps, kCheckedLanes, 1>(s, end, row, interior, s.group, window);
  if (end_check(before)) return;
#endif
  depthwise_channels<Steps, kFloatLanes>(s, end, row, interior, s.group, window);
}

// Depthwise convolution, x and y with neighbouring channels; w[position * group + channel].
template <class Steps = Separate>
static inline void float_depthwise(const FloatConvShape& s, const FloatEnd& end, const float* x,
                                   const float* w, const float* c, float* y) {
  const Interior interior = interior_of(s.axis[s.along], s.transposed);
  for (int32_t n = 0; n < s.batch; ++n) {
    for_each_row(s, [&](ptrdiff_t y_row, const Window& window) {
      const FloatRow row{x + n * s.x_image, w, s.group, c, y + n * s.y_image + y_row};
      all_channels<Steps>(s, end, row, interior, window);
    });
  }
}

}  // namespace rt
}  // namespace etch
