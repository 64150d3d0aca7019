// A convolution's step between a family of kernels, which builds it, and the lowering, which takes
// it.
#pragma once

#include <string>
#include <string_view>

#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/conv/providers.h"
#include "compiler/lower/lowering.h"

namespace etch {

// "3x3 depthwise convolution, 8 -> 8 channels, ...": of a step of this kind. `of`: what follows
// "convolution", as " of 16 bits".
std::string summary_of(const ConvGeometry& g, std::string_view kind, std::string_view of = "");

// Without a halo the padding becomes border regions.
void ignore_halo(View& view);

// Gives the step, with the memory that it asks for, to the lowering: operands x, the residual,
// scratch memory, y. False where x cannot be aligned as the kernel has to have it.
bool add_built(Lowering& lowering, const Node& node, const ConvProblem& problem,
               BuiltConvolution built);

}  // namespace etch
