// Adds the step that averages a map within boxes.
#pragma once

#include "compiler/lower/lowering.h"
#include "templates/kernels/select/roi_align.h"

namespace etch {

// RoiAlign's node: a map, boxes, and the image that each box is in. Sizes and options are those of
// `plan`; its operands are filled in.
void add_roi_align(Lowering& lowering, const Node& node, RoiAlignPlan plan);

}  // namespace etch
