// The first stage of a depthwise convolution for Helium: the tile, which rows of x are interleaved
// for which rows of the output, and the functions in assembly.
#pragma once

#include <optional>
#include <vector>

#include "compiler/kernels/conv/proof.h"
#include "templates/kernels/conv/mve_depthwise.h"

namespace etch {

inline constexpr int kMveWord = 4;  // rows, and columns of a vector

struct PlannedMveDepthwise {
  MveDepthwisePlan plan;
  RangeProof proof;
  std::vector<AssemblyFunction> assembly;
};
// Nothing where columns read padding alone, requantization is with integers, or an offset would not
// be within reach.
std::optional<PlannedMveDepthwise> plan_mve_depthwise(const ConvProblem& problem,
                                                      const IsaTraits& isa);

}  // namespace etch
