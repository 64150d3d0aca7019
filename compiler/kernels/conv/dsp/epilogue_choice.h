// What becomes of accumulators in convolutions for Cortex-M: which rounding the assembly does, and
// whether it adds the residual.
#pragma once

#include <optional>

#include "compiler/kernels/conv/dsp/functions.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/program/requantize/sum_line.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

// Along which the assembly adds the residual, if there is one and the plan's form can.
std::optional<SumLine> line_of(const DspConvPlan& plan);

// The plan with `line` and `finishes`: what the assembly cannot round is finished after it.
DspConvPlan with_result(DspConvPlan plan, const std::optional<SumLine>& line);

DspEpilogue epilogue_of(const ConvProblem& problem, const RangeProof& proof,
                        const DspConvPlan& plan);
rt::DspStore store_of(const DspEpilogue& epilogue);

}  // namespace etch
