// The first stage of a depthwise convolution: regions of planes, rows and columns that share their
// taps, the quads that these are read as, and what is computed at once.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compiler/kernels/conv/depthwise/panel.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/regions.h"
#include "templates/isa/traits.h"
#include "templates/kernels/conv/depthwise.h"

namespace etch {

struct PlannedDepthwise {
  DepthwisePlan plan;  // except where in the constants each part starts: packing decides
  RangeProof proof;
  PanelTaps single, pair;              // no quads where no region uses it
  std::vector<std::vector<int>> taps;  // per region: those on the image or its halo
  std::vector<int> shifts;             // d per channel (templates/kernels/conv/depthwise.h)
  int phases = 1;                      // how many different chunks of weights there are
};
// Nothing when no output position has a tap.
std::optional<PlannedDepthwise> plan_depthwise(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
