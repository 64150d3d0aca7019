// The second stage of a depthwise convolution: weights, biases and factors in the order in which
// its chunks read them.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/depthwise/plan.h"
#include "compiler/program/step.h"

namespace etch {

struct PackedDepthwise {
  std::vector<ConstantArray> constants;  // "weights", "bias" and what requantization reads
  DepthwisePanel single, pair;
  std::vector<std::int64_t> bias;  // per region: lanes of "bias"
};
PackedDepthwise pack_depthwise(const ConvProblem& problem, const IsaTraits& isa,
                               const PlannedDepthwise& conv);

// The plan, told where its constants are.
DepthwisePlan placed(DepthwisePlan plan, const PackedDepthwise& packed);

}  // namespace etch
