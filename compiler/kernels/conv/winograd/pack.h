// The second stage of a Winograd convolution: the stream of transformed weights, biases and
// factors.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/dsp/plan.h"

namespace etch {

// Output channel m's weights of input channel c as (2G) g (2G)^T, position after position down the
// columns: 0 .. 15.
int transformed_weight(const ConvProblem& problem, std::int64_t m, std::int64_t c, int position);

// Two output channels after two: weights by position, biases, factors.
std::vector<std::int32_t> pack_winograd(const ConvProblem& problem, const PlannedDspConv& direct);

}  // namespace etch
