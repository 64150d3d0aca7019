// What code for a target can do, by name, for passes and lowering: they ask for an ability and know
// no instruction set and no kernel family.
#pragma once

#include "templates/isa/traits.h"

namespace etch {

struct Capabilities {
  // A residual is added in the convolution that makes the other summand. Without an FPU the sum
  // would be floats in software; a step of its own adds whole rows in integers.
  bool sums_in_convolutions = true;
  // Forward convolutions copy the rows that they read, with padding, so that a halo is of no use;
  // the same of depthwise ones alone.
  bool convolutions_copy_rows = false;
  bool depthwise_copies_rows = false;
};

Capabilities capabilities_of(const IsaTraits& isa);

}  // namespace etch
