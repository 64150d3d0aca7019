// The second stage of a portable convolution: weights, biases and factors in the order in which its
// tiles read them.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/portable/plan.h"
#include "compiler/program/step.h"

namespace etch {

struct PackedConv {
  struct Region {
    std::int64_t weights = 0;         // where its weights start: bytes from those of the group
    std::int64_t bias = 0;            // lanes of "bias"
    std::vector<WeightPlace> places;  // in those of a region with more taps, if that has them all
    int shared_groups = 0;            // of that region
  };
  std::vector<ConstantArray> constants;  // "weights", "bias" and what requantization reads
  std::vector<Region> regions;
  std::int64_t weights_per_group = 0;  // bytes
};
PackedConv pack_conv(const ConvProblem& problem, const IsaTraits& isa, const PlannedConv& conv);

// What requantization reads, in lane order; not for int32 output.
ConstantArray pack_factors(const ConvProblem& problem, const IsaTraits& isa,
                           const PlannedConv& conv);

// The plan, told where its constants are.
ConvPlan placed(ConvPlan plan, const ConvProblem& problem, const PackedConv& packed);

}  // namespace etch
