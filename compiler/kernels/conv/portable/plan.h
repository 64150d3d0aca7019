// The first stage of a portable convolution: regions of pixels that share their taps, the bytes
// that each multiplies, the proof about accumulators, and tiles.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/portable/weight_parts.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/tuning.h"
#include "templates/kernels/conv/conv_plan.h"

namespace etch {

// What each byte of a region's K is, in the order in which the kernel walks over its runs. Other
// parts of wide weights follow the first.
struct RegionTaps {
  std::vector<KByte> k;                // whole groups of 4
  std::vector<std::size_t> part_ends;  // per part of the weights: where in k it ends
  int part_at(std::size_t at) const;   // of the byte k[at]
};

struct PlannedConv {
  ConvPlan plan;  // except where in the constants each region starts: packing decides
  RangeProof proof;
  WeightParts parts;
  std::vector<RegionTaps> taps;  // per region
  std::string key;               // of the layer in a tuning file
  bool from_file = false;        // the tiles come from there
  std::string refusal;           // why they cannot be had, or empty
};
PlannedConv plan_conv(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning);

}  // namespace etch
