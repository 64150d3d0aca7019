// Regions at a border have some of the taps that the other pixels have. Where whole groups of 4
// bytes of K are the same, they read the weights of the region with most taps instead of a copy of
// their own: a causal convolution with a wide dilation had each weight twice.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/kernels/conv/portable/plan.h"

namespace etch {

struct SharedWeights {
  std::size_t region = 0;           // whose weights these are
  std::vector<WeightPlace> places;  // of each run among them; empty: they are not shared
  int groups = 0;                   // of that region
};

// Of every region, in order.
std::vector<SharedWeights> shared_weights(const PlannedConv& conv);

}  // namespace etch
