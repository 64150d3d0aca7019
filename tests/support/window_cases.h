// Convolutions whose windows see nothing but padding, or nearly: pads larger than the
// kernel and than the image, kernels larger than the image, one pixel in or out. For the tests that
// compile every such layer for every target.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/cases.h"

namespace etch {

// Depthwise, ordinary, in groups, transposed and ConvInteger; 1 to 40 channels; pads of 0 to 12 on
// each side by itself, dilations to 5, strides to 4. One of four is followed by another such
// convolution, one of 24 ends in a sum with a second input. Layer `index` of `count` depends on
// `first + index` alone.
std::vector<Case> convolutions_with_wide_pads(int first, int count);

// Depthwise, one x one image of 8 channels, and `pad` on the side of this number (0: above, left,
// below, 3: right): outputs on that side read padding alone.
Case padded_on_one_side(int side, std::int64_t pad);

// Depthwise, in a plane: all that is left to draw are weights and zero points.
Case depthwise_plane(std::int64_t channels, const std::vector<std::int64_t>& in,
                     const std::vector<std::int64_t>& kernel, const std::vector<std::int64_t>& pads,
                     const std::vector<std::int64_t>& dilation, int seed);

}  // namespace etch
