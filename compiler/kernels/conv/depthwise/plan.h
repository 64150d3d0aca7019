// The first stage of a depthwise convolution: regions of rows and columns that share their taps,
// the quads of rows that these are read as, and what is computed at once.
#pragma once

#include <optional>
#include <vector>

#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/regions.h"
#include "templates/isa/traits.h"
#include "templates/kernels/conv/depthwise.h"

namespace etch {

struct PlannedDepthwise {
  // The taps of a region, and how many different chunks of weights it has.
  struct Taps {
    Segment rows, cols;
    int phases = 1;
  };
  DepthwisePlan plan;  // except where in the constants each region starts: packing decides
  RangeProof proof;
  std::vector<Taps> taps;  // per region
};
// Nothing when no output position has a tap.
std::optional<PlannedDepthwise> plan_depthwise(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
