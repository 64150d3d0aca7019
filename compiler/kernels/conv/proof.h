// What the constant weights prove about a convolution: which accumulators can occur, whether
// int32 can overflow, and which form of requantization is exact for all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernels/conv/problem.h"
#include "compiler/program/step.h"

namespace etch {

// bias[m] - x_zero_point * (sum of the weights of channel m over `taps`), wrapped to int32.
std::int32_t folded_bias(const ConvProblem& problem, std::int64_t m, const std::vector<int>& taps);

// Chooses out.kind and appends what was proved to step.facts; without floats also chooses every
// channel's formula (step.requantized).
void prove_range(const ConvProblem& problem, const IsaTraits& isa, Requantize& out, Step& step);

// Fills in step.products from the packed constant "weights", as the instruction set multiplies
// them, and appends to step.facts that the sums are exact.
void prove_products(const IsaTraits& isa, Step& step);

}  // namespace etch
