// The position of the largest or smallest element along one axis.
#pragma once

#include "compiler/lower/lowering.h"
#include "templates/kernels/reduce/arg_extreme.h"

namespace etch {

// Input 0 of `node` to output 0 (int64). Of `plan` only largest and last_of_equals are set.
void add_arg_extreme(Lowering& lowering, const Node& node, ArgExtremePlan plan, std::int64_t axis);

}  // namespace etch
