// The first stage of a convolution for Cortex-M cores with SIMD on halfwords: which form of kernel,
// rows and padding, what becomes of accumulators, and the functions in assembly for its tiles.
#pragma once

#include <optional>
#include <vector>

#include "compiler/kernels/conv/dsp/functions.h"
#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/providers.h"
#include "compiler/program/requantize/sum_line.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

struct PlannedDspConv {
  DspConvPlan plan;  // except the length of the stream, which packing finds
  RangeProof proof;
  DspEpilogue epilogue;         // of the functions in assembly
  std::optional<SumLine> line;  // along which they add the residual
  std::vector<AssemblyFunction> assembly;
  std::vector<ScratchWish> scratch;
};
PlannedDspConv plan_dsp_conv(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
