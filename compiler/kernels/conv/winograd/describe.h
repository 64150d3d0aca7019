// The third stage of a Winograd convolution: what reports, comments and the memory planner are
// told.
#pragma once

#include "compiler/kernels/conv/assemble.h"
#include "templates/kernels/conv/dsp_winograd.h"

namespace etch {

Description describe_winograd(const ConvProblem& problem, const DspWinogradPlan& plan);

}  // namespace etch
