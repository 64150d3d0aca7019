// 3x3 convolutions by Winograd's F(2x2, 3x3) in integers, for Cortex-M cores with SIMD on
// halfwords: exact, about two thirds of the instructions of a direct convolution, and 3.6 times its
// weights.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/kernels/conv/dsp/conv.h"
#include "templates/kernels/conv/dsp_winograd.h"

namespace etch {

class DspWinogradStep : public StagedStep<DspWinogradStep> {
 public:
  DspWinogradPlan plan;
  std::int64_t rows_bytes = 0, transformed_words = 0;  // scratch operands
  template <class S>
  void kernel(S& s) const {
    dsp_winograd_kernel(s, plan);
  }
};

// False where code is not for speed, and where this would not be faster than a direct convolution.
bool dsp_winograd_serves(const ConvProblem& problem, const IsaTraits& isa);

// What takes the place of `direct`, whose proofs and constants it keeps; null where the form does
// not serve. Operands: x, the residual if there is one, rows, transformed, y.
std::unique_ptr<DspWinogradStep> make_dsp_winograd_step(const ConvProblem& problem,
                                                        const DspConvStep& direct);

}  // namespace etch
