// The first stage of a Winograd convolution: it keeps the proof and the epilogue of the direct one
// and has rows, sizes and functions of its own.
#pragma once

#include <vector>

#include "compiler/kernels/conv/dsp/plan.h"
#include "compiler/kernels/conv/providers.h"
#include "templates/kernels/conv/dsp_winograd.h"

namespace etch {

struct PlannedWinograd {
  DspWinogradPlan plan;  // except the length of the stream
  std::vector<AssemblyFunction> assembly;
  std::vector<ScratchWish> scratch;
};
// Of a problem that winograd_fits().
PlannedWinograd plan_winograd(const ConvProblem& problem, const PlannedDspConv& direct);

// False where code is not for speed, and where this would not be faster than a direct convolution.
bool dsp_winograd_serves(const ConvProblem& problem, const IsaTraits& isa);

// False where offsets in instructions or sums would not suffice, or the direct convolution does not
// round in assembly.
bool winograd_fits(const ConvProblem& problem, const DspConvPlan& direct);

std::int64_t winograd_row_bytes(const ConvGeometry& g);  // of a row of x between its padding

inline constexpr int kWinogradPositions = 16;  // of a transformed tile

}  // namespace etch
