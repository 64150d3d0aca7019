// Convolutions with small groups as depthwise ones. The matrix kernel gives each group vectors of
// its own, most of whose lanes multiply zeros where a group has few channels. Instead x is copied
// so that each output channel has the input channels of its group below each other: these become
// taps of one more axis.
#pragma once

#include "compiler/kernels/conv/problem.h"
#include "compiler/lower/lowering.h"

namespace etch {

// Whether the matrix kernel would compute so many zeros that the copy is worth it, and a copy is
// possible and not too large.
bool wastes_lanes(const ConvProblem& problem, const IsaTraits& isa);

// Adds the copy for such a problem, and returns the same problem on it.
ConvProblem spread_groups(Lowering& lowering, const Node& node, const ConvProblem& problem);

}  // namespace etch
