// Depthwise and grouped convolutions of every kind of weights: what the depthwise kernel has to
// serve beside the ordinary case; see cases.h.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// Every kernel of up to 3 rows and 5 columns over 1 to 3 axes with strides, dilations and padding
// that goes beyond the kernel, on several counts of channels; ConvInteger with x's zero point at
// run time and QLinearConv in turns. `every`: only each `every`-th of them.
std::vector<Case> depthwise_kernels(int every);

// Groups of 1 to 5 input and 1 to 9 output channels.
std::vector<Case> grouped_convolutions(int count);

// Seeded shapes up to 100 channels.
std::vector<Case> random_grouped_convolutions(int count);

// Transposed convolutions of one channel per group, whose strides leave gaps or not.
std::vector<Case> transposed_depthwise(int count);

// Two of them read one tensor, each with a zero point of its own at run time.
std::vector<Case> shared_inputs(int count);

}  // namespace etch
