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
// `moved` is what the products take from every x.
std::int32_t folded_bias(const ConvProblem& problem, std::int64_t m, const std::vector<int>& taps,
                         int moved = 0);

// Which form of requantization is exact, and why.
struct RangeProof {
  Requantize out;  // that of the problem, its kind chosen
  AccumulatorBounds accumulators;
  std::vector<RequantizedChannel> requantized;  // all output channels, or none: floats are used
  std::vector<std::string> facts;
};
RangeProof prove_range(const ConvProblem& problem, const IsaTraits& isa);

// Fills in step.products from the packed constant "weights", as the instruction set multiplies
// them, and appends to step.facts that the sums are exact.
void prove_products(const IsaTraits& isa, Step& step);

}  // namespace etch
