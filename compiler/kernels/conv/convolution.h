// Adds the step of a convolution, or of a matrix product as one, to a program: asks the kernel
// families in the order of providers.h and adds the memory that the chosen one needs.
#pragma once

#include "compiler/kernels/conv/operands.h"
#include "compiler/kernels/conv/problem.h"
#include "compiler/lower/lowering.h"

namespace etch {

// Adds the convolution step of `node` for a complete problem.
void add_convolution(Lowering& lowering, const Node& node, const ConvProblem& problem);

// The same for int32 output when x's zero point is only known at run time, as input `zero_point`:
// a step before computes what the accumulators start from. The problem's x_zero_point and bias do
// not count, and no halo of x is used.
void add_convolution(Lowering& lowering, const Node& node, ConvProblem problem, int zero_point);

}  // namespace etch
