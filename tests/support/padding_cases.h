// Convolutions on small maps, a large part of whose taps is on padding and left out.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// Kernels of 2 to 5, strides, dilations, and pads that differ on all sides; channels in whole
// groups of 4, zero points of every kind. Maps have 1 to 17 pixels along an axis.
std::vector<Case> convolutions_on_small_maps(int count);

// A square map with a kernel of 3 and equal pads of 1.
Case small_map(std::int64_t size, std::int64_t channels, std::int64_t filters, int seed);

}  // namespace etch
