// Lowering of operators that only rename elements; shared by Reshape, Flatten, Squeeze,
// Unsqueeze and Identity (lower_relabel) and by Transpose (lower_transposed).
#pragma once

#include <vector>

#include "compiler/lower/lowering.h"

namespace etch {

// The output is input 0 with the output's shape; row-major order of elements is kept.
void lower_relabel(Lowering& lowering, const Node& node);

// Output dimension i is input dimension perm[i].
void lower_transposed(Lowering& lowering, const Node& node, const std::vector<int>& perm);

}  // namespace etch
