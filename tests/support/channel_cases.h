// Convolutions with every count of channels: what a vector holds of them, and what is left over,
// decides how depthwise chunks are composed and how blocks of output channels are divided.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// For each of 1 to 40, 48, 64, 96 and 144 channels, `each` convolutions in a plane with strides 1
// to 3, kernels of 1 to 5 and any pads, widths that leave remainders, and any scaling but such as
// makes all outputs equal.
std::vector<Case> depthwise_channel_counts(int each);
std::vector<Case> depthwise_integers(int each);    // ConvInteger, zero points known at run time too
std::vector<Case> dense_channel_counts(int each);  // few input channels or many

// Convolutions with kernels of one along one to three axes and 64 to 150 channels, bytes and
// integers, zero points at run time too: many have weights of 9 bits with an addend in common.
std::vector<Case> whole_pixels(int count);

// Dense along one axis or in a plane, dilated so far that no halo holds the padding: pixels at the
// borders have fewer taps.
std::vector<Case> wide_borders(int count);

// Transposed to few channels, with strides along the last axis that divide the output.
std::vector<Case> transposed_to_few(int count);

// Depthwise along one axis, either of a plane with few or many lines, or the only one: 2 to 37
// taps, strides 1 to 3 or dilations 2 to 9, any pads, 2 to 33 channels; of bytes or, a third,
// integers.
std::vector<Case> depthwise_lines(int count);

// Pools of images of 1 to 40 channels, maxima and averages, global ones too: windows of up to three
// rows and columns, any strides and pads.
std::vector<Case> pools(int count);

// Depthwise with pixels more than 4 KiB apart: farther than offsets in loads of Arm reach.
std::vector<Case> pixels_far_apart();

}  // namespace etch
