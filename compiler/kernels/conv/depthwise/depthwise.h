// Steps for the row-quad depthwise kernel (templates/kernels/conv/depthwise.h).
#pragma once

#include <memory>

#include "compiler/kernels/conv/problem.h"
#include "compiler/stage/staged_step.h"
#include "templates/isa/traits.h"
#include "templates/kernels/conv/depthwise.h"

namespace etch {

ETCH_PLAN_STEP(DepthwiseStep, DepthwisePlan, depthwise_kernel, kDivisible);

// One input and one output channel per group, channels last, forward or transposed.
bool has_single_channels(const ConvProblem& problem);

// The same, forward.
bool is_depthwise(const ConvProblem& problem);

// Null when no output position has a tap: the matrix kernel knows how to do without.
std::unique_ptr<DepthwiseStep> make_depthwise_step(const ConvProblem& problem,
                                                   const IsaTraits& isa);

}  // namespace etch
