// Depthwise convolutions for Cortex-M cores with Helium: from a ConvProblem to the plan of
// templates/kernels/conv/mve_depthwise.h, its functions in assembly, and the stream of packed
// weights, biases and scales that they read.
#pragma once

#include <memory>

#include "compiler/kernels/conv/problem.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/conv/mve_depthwise.h"

namespace etch {

ETCH_PLAN_STEP(MveDepthwiseStep, MveDepthwisePlan, mve_depthwise_kernel, kDependent);

// False where this kernel does not serve the problem: not depthwise, three axes, dilated columns,
// weights known at run time.
bool mve_depthwise_serves(const ConvProblem& problem, const IsaTraits& isa);

// Of a problem that it serves; null where columns read padding alone, or requantization is with
// integers. Operands: x, scratch memory, y.
std::unique_ptr<MveDepthwiseStep> make_mve_depthwise_step(const ConvProblem& problem,
                                                          const IsaTraits& isa);

}  // namespace etch
