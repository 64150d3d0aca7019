// Convolutions for Cortex-M cores with SIMD on halfwords: from a ConvProblem to the plan of
// templates/kernels/conv/dsp_conv.h, its functions in assembly, and the stream of biases, weights
// and factors that they read.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/kernels/conv/dsp/functions.h"
#include "compiler/kernels/conv/problem.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

class DspConvStep : public StagedStep<DspConvStep> {
 public:
  DspConvPlan plan;
  DspEpilogue epilogue;  // of its functions in assembly
  // Scratch memory that operands of these numbers want; 0: there is no such operand.
  std::int64_t gathered_words = 0, rows_bytes = 0, sums_words = 0;
  template <class S>
  void kernel(S& s) const {
    dsp_conv_kernel(s, plan);
  }
};

// False where these kernels do not serve the problem: transposed, three axes, weights wider than
// int8, or depthwise with channels that are not a multiple of 4.
bool dsp_conv_serves(const ConvProblem& problem, const IsaTraits& isa);

// Of a problem that they serve. Operands: x, the residual if there is one, scratch memory (gathered
// int32, rows uint8, sums int32, as far as there is a number for them), y.
std::unique_ptr<DspConvStep> make_dsp_conv_step(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
