// The second stage of a depthwise convolution: weights, biases and factors in the order in which
// its chunks read them.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/depthwise/plan.h"
#include "compiler/program/step.h"

namespace etch {

struct PackedDepthwise {
  struct Region {  // where its constants start: bytes of "weights", lanes of "bias"
    std::int64_t weights = 0, weights_single = 0, bias = 0;
  };
  std::vector<ConstantArray> constants;
  std::vector<Region> regions;
};
PackedDepthwise pack_depthwise(const ConvProblem& problem, const IsaTraits& isa,
                               const PlannedDepthwise& conv);

// The plan, told where its constants are.
DepthwisePlan placed(DepthwisePlan plan, const PackedDepthwise& packed);

}  // namespace etch
