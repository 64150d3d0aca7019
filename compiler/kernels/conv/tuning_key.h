// What a tuning file calls a convolution: its geometry and nothing else, so that equal layers share
// an entry and a model may be edited, renamed and trained again without losing it.
#pragma once

#include <string>

#include "compiler/kernels/conv/problem.h"

namespace etch {

// "conv/1x64x56x56/1x64x28x28/k3x3/s2x2/p1,1,1,1": input, output, then kernel, strides, padding
// (begins, then ends), dilations, groups, "transposed", "add" (a residual), "int32" (output) and
// "parts2" (weights of 9 bits in so many parts), each only where it is not the usual.
std::string tuning_key(const ConvProblem& problem, int parts);

}  // namespace etch
