// Trees of elementwise operators, and dynamically quantized blocks, for the tests of expressions.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// Random trees over inputs of every kind: float32, int32 and 8 bits, whole, broadcast and single,
// constant or not. Results are float32, or 8 bits where `quantized`. With `special` there are NaN,
// infinities, zeros of both signs and subnormal numbers among the inputs.
std::vector<Case> expression_cases(int count, bool quantized, bool special);

// One chain of operators on each of 1 to 67 elements.
std::vector<Case> expression_lengths(bool quantized);

// Convolutions and products of integers with their epilogues, quantized dynamically: channels last,
// per channel, with residual sums.
std::vector<Case> dynamic_blocks(int count);

}  // namespace etch
