// The third stage of a convolution for Helium: what reports, comments and the memory planner are
// told.
#pragma once

#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/helium/plan.h"

namespace etch {

Description describe_mve_conv(const ConvProblem& problem, const MveConvPlan& plan);

}  // namespace etch
