// The windows of a pooling operator, for reference functions: plain loops from the definition of
// PoolGeometry.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/ops/pool_geometry/geometry.h"

namespace etch {

struct PoolWindow {
  std::int64_t y = 0;              // flat index of the output element
  std::vector<std::int64_t> taps;  // flat indices of the input elements, row-major; never padding
  std::int64_t padded_taps = 0;    // taps inside the image and the padding that was asked for
  std::int64_t kernel_taps = 0;    // product of the kernel's sizes
};

// All windows, one per output element.
template <class Visit>
void for_each_window(const PoolGeometry& geometry, Visit visit);

namespace pool_detail {

// The geometry with exactly 3 axes; absent ones lead, with size 1.
std::array<ConvAxis, 3> three_axes(const PoolGeometry& geometry);

// The window at output position `out` within one plane: taps are positions in the plane.
PoolWindow window_at(const std::array<ConvAxis, 3>& axes, const std::array<std::int64_t, 3>& out);

}  // namespace pool_detail

template <class Visit>
void for_each_window(const PoolGeometry& geometry, Visit visit) {
  const auto axes = pool_detail::three_axes(geometry);
  const std::int64_t in_plane = axes[0].in * axes[1].in * axes[2].in;
  const std::int64_t out_plane = axes[0].out * axes[1].out * axes[2].out;
  const bool last = geometry.layout == ConvLayout::kChannelsLast;
  const auto flat = [&](std::int64_t n, std::int64_t c, std::int64_t plane, std::int64_t position) {
    return last ? (n * plane + position) * geometry.channels + c
                : (n * geometry.channels + c) * plane + position;
  };
  for (std::int64_t position = 0; position < out_plane; ++position) {
    const std::array<std::int64_t, 3> out = {position / axes[2].out / axes[1].out,
                                             position / axes[2].out % axes[1].out,
                                             position % axes[2].out};
    const PoolWindow in_one_plane = pool_detail::window_at(axes, out);
    for (std::int64_t n = 0; n < geometry.batch; ++n) {
      for (std::int64_t c = 0; c < geometry.channels; ++c) {
        PoolWindow window = in_one_plane;
        window.y = flat(n, c, out_plane, position);
        for (std::int64_t& tap : window.taps) tap = flat(n, c, in_plane, tap);
        visit(window);
      }
    }
  }
}

}  // namespace etch
