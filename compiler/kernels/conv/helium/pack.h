// The second stage of a convolution for Helium: the stream that its functions in assembly read.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/helium/plan.h"

namespace etch {

// Per block of channels: packed weights plus their offset, biases, scales.
std::vector<std::int32_t> pack_mve_conv(const ConvProblem& problem, const PlannedMveConv& conv);

}  // namespace etch
