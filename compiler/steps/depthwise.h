// Steps for the row-quad depthwise kernel (templates/kernels/depthwise.h).
#pragma once

#include <memory>

#include "compiler/steps/conv.h"

namespace etch {

// One input and one output channel per group, forward, 8-bit output, int8 weights, two spatial
// axes at most (a leading axis of size 1 counts as none).
bool is_depthwise(const ConvProblem& problem, const IsaTraits& isa);

// Null when no output position has a tap: the matrix kernel knows how to do without.
std::unique_ptr<Step> make_depthwise_step(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
