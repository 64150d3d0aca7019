// The third stage of a convolution for Cortex-M: what reports, comments and the memory planner are
// told.
#pragma once

#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/dsp/plan.h"

namespace etch {

Description describe_dsp_conv(const ConvProblem& problem, const PlannedDspConv& conv);

// Of a residual that is added along a line.
inline constexpr const char* kLineFact =
    "the sum is a line in integers, equal for all pairs of bytes";

}  // namespace etch
