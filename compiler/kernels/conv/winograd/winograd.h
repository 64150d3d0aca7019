// 3x3 convolutions by Winograd's F(2x2, 3x3) in integers, for Cortex-M cores with SIMD on
// halfwords: exact, about two thirds of the instructions of a direct convolution, and 3.6 times its
// weights.
#pragma once

#include "compiler/kernels/conv/winograd/plan.h"
#include "compiler/stage/staged_step.h"

namespace etch {

ETCH_PLAN_STEP(DspWinogradStep, DspWinogradPlan, dsp_winograd_kernel, kDependent);

// Of a problem that dsp_winograd_serves(); no step where the form does not fit after all. Operands:
// x, the residual if there is one, rows, transformed, y.
BuiltConvolution make_dsp_winograd_step(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
