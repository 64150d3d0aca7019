// The constant "stream" of convolutions in assembly for Cortex-M: for every block of channels its
// biases, packed weights and factors, one after the other, as the functions of runtime/etch_dsp.h
// read them.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/problem.h"
#include "compiler/program/step.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

// Output channels that a block computes together: 2 or 4.
int channels_of_block(const DspConvPlan& plan);

// Sets plan.stream_words, the words of one group. `requantized` has every output channel where
// results are rounded by a product and a shift.
std::vector<std::int32_t> pack_stream(const ConvProblem& problem, DspConvPlan& plan,
                                      const std::vector<RequantizedChannel>& requantized);

}  // namespace etch
