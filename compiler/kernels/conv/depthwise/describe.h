// The third stage of a depthwise convolution: what reports and the memory planner are told.
#pragma once

#include "compiler/kernels/conv/assemble.h"
#include "templates/isa/traits.h"
#include "templates/kernels/conv/depthwise.h"

namespace etch {

Description describe_depthwise(const ConvProblem& problem, const IsaTraits& isa,
                               const DepthwisePlan& plan);

}  // namespace etch
