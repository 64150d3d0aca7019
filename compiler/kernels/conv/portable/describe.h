// The third stage of a portable convolution: what reports, comments and the memory planner are
// told.
#pragma once

#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/portable/plan.h"

namespace etch {

Description describe_conv(const ConvProblem& problem, const PlannedConv& conv);

}  // namespace etch
