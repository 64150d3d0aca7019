// Convolutions for Cortex-M cores with Helium: from a ConvProblem to the plan of
// templates/kernels/conv/mve_conv.h and its functions in assembly (plan.h), the stream of packed
// weights, biases and scales that they read (pack.h), and what is said of them (describe.h).
#pragma once

#include <memory>

#include "compiler/kernels/conv/problem.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/conv/mve_conv.h"

namespace etch {

ETCH_PLAN_STEP(MveConvStep, MveConvPlan, mve_conv_kernel, kDivisible);

// False where these kernels do not serve the problem: transposed, few channels per group, weights
// wider than int8.
bool mve_conv_serves(const ConvProblem& problem, const IsaTraits& isa);

// Of a problem that they serve; null where there is padding that no halo holds, or requantization
// with integers. Operands: x, the residual if there is one, y.
std::unique_ptr<MveConvStep> make_mve_conv_step(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
