// y = fl(fl(x * factor) + offset) with constants that broadcast to x: normalizations in inference.
#pragma once

#include <string>

#include "compiler/lower/lowering.h"

namespace etch {

// Input 0 of `node` (float32) to output 0 of the same shape.
void add_affine(Lowering& lowering, const Node& node, const Tensor& factor, const Tensor& offset,
                std::string summary);

}  // namespace etch
