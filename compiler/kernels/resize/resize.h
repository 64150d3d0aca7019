// The steps of linear and cubic Resize; see templates/kernels/resize/resize.h.
#pragma once

#include "compiler/ir/geometry/resize.h"
#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/resize/resize.h"

namespace etch {

ETCH_PLAN_STEP(ResizeStep, ResizePlan, resize_kernel, kDependent);

ETCH_PLAN_STEP(CubicResizeStep, ResizePlan, cubic_resize_kernel, kDependent);

// Output 0 of `node` between the neighbours of input 0.
void add_linear_resize(Lowering& lowering, const Node& node, const Resize& params);
void add_cubic_resize(Lowering& lowering, const Node& node, const Resize& params);

}  // namespace etch
