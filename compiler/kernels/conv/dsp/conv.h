// Convolutions for Cortex-M cores with SIMD on halfwords: from a ConvProblem to the plan of
// templates/kernels/conv/dsp_conv.h and its functions in assembly (plan.h), the stream of biases,
// weights and factors that they read (pack.h), and what is said of them (describe.h).
#pragma once

#include "compiler/kernels/conv/dsp/serves.h"
#include "compiler/kernels/conv/providers.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

ETCH_PLAN_STEP(DspConvStep, DspConvPlan, dsp_conv_kernel, kDependent);

// Of a problem that dsp_conv_serves(). Operands: x, the residual if there is one, scratch memory
// (gathered int32, rows uint8, sums int32, as far as there is a number for them), y.
BuiltConvolution make_dsp_conv_step(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
