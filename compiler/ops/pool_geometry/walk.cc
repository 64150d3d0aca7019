// Windows of pooling operators; see walk.h.
#include "compiler/ops/pool_geometry/walk.h"

#include <algorithm>

namespace etch::pool_detail {

std::array<ConvAxis, 3> three_axes(const PoolGeometry& geometry) {
  std::array<ConvAxis, 3> axes{};
  std::copy(geometry.axes.begin(), geometry.axes.end(),
            axes.end() - static_cast<std::ptrdiff_t>(geometry.axes.size()));
  return axes;
}

PoolWindow window_at(const std::array<ConvAxis, 3>& axes, const std::array<std::int64_t, 3>& out) {
  PoolWindow window;
  window.kernel_taps = axes[0].kernel * axes[1].kernel * axes[2].kernel;
  for (std::int64_t tap = 0; tap < window.kernel_taps; ++tap) {
    const std::array<std::int64_t, 3> taps = {tap / axes[2].kernel / axes[1].kernel,
                                              tap / axes[2].kernel % axes[1].kernel,
                                              tap % axes[2].kernel};
    bool in_image = true;
    bool in_padded = true;
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const ConvAxis& axis = axes[i];
      const std::int64_t position = out[i] * axis.stride + taps[i] * axis.dilation - axis.pad_begin;
      in_image = in_image && position >= 0 && position < axis.in;
      in_padded = in_padded && position < axis.in + axis.pad_end;
      flat = flat * axis.in + position;
    }
    if (in_image) window.taps.push_back(flat);
    if (in_padded) ++window.padded_taps;
  }
  return window;
}

}  // namespace etch::pool_detail
