// Transposed convolutions to few channels. With a stride along the last axis, output columns that
// are next to each other have taps of their own, and each a vector of channels that is mostly
// empty. Where these columns are next to each other in memory, too, `stride` of them are taken for
// one column of so many times the channels: an ordinary transposed convolution with a stride of 1,
// whose kernel has zeros where a column has no tap.
#pragma once

#include <optional>

#include "compiler/kernels/conv/problem.h"
#include "templates/isa/traits.h"

namespace etch {

// The problem with columns merged, over the same memory, where its vectors multiply less.
std::optional<ConvProblem> merged_columns(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
