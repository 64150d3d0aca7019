// Depthwise convolutions along one axis (audio, 1 x N and N x 1 kernels, dilated or not) for
// Cortex-M cores with Helium: from a ConvProblem to the plan of templates/kernels/conv/mve_lines.h,
// its functions in assembly, and the stream of packed weights, biases and scales that they read.
#pragma once

#include <memory>

#include "compiler/kernels/conv/problem.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/conv/mve_lines.h"

namespace etch {

ETCH_PLAN_STEP(MveLinesStep, MveLinesPlan, mve_lines_kernel, kDependent);

// False where this kernel does not serve the problem: not depthwise, taps on two axes, both strided
// and dilated, weights known at run time, or few taps of a plane, of which depthwise.h takes two
// rows at a time.
bool mve_lines_serve(const ConvProblem& problem, const IsaTraits& isa);

// Of a problem that it serves; null where the line reads padding alone, there are more than 256
// taps, an offset would be out of reach, or requantization is with integers. Operands: x, scratch
// memory, y.
std::unique_ptr<MveLinesStep> make_mve_lines_step(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
