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

// `requantized` has every output channel where results are rounded by a product and a shift.
struct PackedStream {
  std::vector<std::int32_t> words;
  std::int64_t words_per_group = 0;
};
PackedStream pack_stream(const ConvProblem& problem, const DspConvPlan& plan,
                         const std::vector<RequantizedChannel>& requantized);

// What the stream has of one output channel to start its sum, and to round it; zeros for channel
// -1.
std::int32_t stream_bias(const ConvProblem& problem, std::int64_t channel);
std::vector<std::int32_t> stream_factors(const ConvProblem& problem, const DspConvPlan& plan,
                                         const std::vector<RequantizedChannel>& requantized,
                                         std::int64_t channel);

}  // namespace etch
