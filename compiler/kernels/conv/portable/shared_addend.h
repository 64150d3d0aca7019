// Weights of 9 bits that are int8 after the same number was taken from all of them, as uint8
// weights with one zero point are: that number times the sum of x's bytes is added to each pixel's
// accumulators instead of second parts of weights, which would take as long and as much memory as
// the first, or of weights as words where bytes are read in half of the time (AVX2). Only for
// products of whole pixels (1x1, matrices), whose sums the step computes first.
#pragma once

#include <optional>

#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/conv/tuning.h"
#include "compiler/program/step.h"
#include "templates/isa/traits.h"
#include "templates/kernels/conv/conv_plan.h"

namespace etch {

// The number nearest to 0 whose use pays and is possible on this target; nothing where weights are
// int8 as they are.
std::optional<int> shared_addend(const ConvProblem& problem, const IsaTraits& isa,
                                 const Tuning& tuning);

// What the kernel computes first for such a problem, and the constant that it reads.
rt::RowTerms terms_of_pixels(const ConvProblem& problem, const IsaTraits& isa);
ConstantArray addend_constant(int addend);

}  // namespace etch
