// The taps of a convolution as a grid per output position, so that tiles at the border can leave
// out taps on padding; see templates/kernels/conv/tap_grid.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/geometry/convolution.h"
#include "templates/kernels/conv/tap_grid.h"

namespace etch {

struct GridAxis {
  ConvAxis axis;
  std::int64_t x_stride = 0;  // bytes from one input position to the next
};

// The grid of a convolution all of whose pixels read the same taps, halo included. Nothing where no
// tap is on padding, where a pixel has no tap at all on the image, or where taps are not whole
// groups of 4 bytes.
std::optional<TapGrid> make_tap_grid(const ConvGeometry& geometry, const GridAxis& rows,
                                     const GridAxis& cols, std::int64_t channel_stride);

// The taps (row * columns of the kernel + column) of every kind of pixel, in the order of biases.
std::vector<std::vector<int>> tap_sets(const TapGrid& grid);

}  // namespace etch
