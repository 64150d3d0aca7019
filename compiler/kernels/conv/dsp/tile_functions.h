// Which functions in assembly a convolution for Cortex-M calls: for whole tiles, for the last one
// of a row, and to copy rows.
#pragma once

#include <vector>

#include "compiler/kernels/conv/dsp/functions.h"
#include "compiler/kernels/conv/problem.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

// The plan with the names of its functions, which are appended to `assembly`.
DspConvPlan with_functions(DspConvPlan plan, const ConvProblem& problem,
                           const DspEpilogue& epilogue, const IsaTraits& isa,
                           std::vector<AssemblyFunction>& assembly);

}  // namespace etch
