// The steps of Resize with antialias: one for each axis that changes, the last axis first; see
// templates/kernels/resize/antialias.h.
#pragma once

#include "compiler/ir/geometry/resize.h"
#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/resize/antialias.h"

namespace etch {

ETCH_PLAN_STEP(AntialiasStep, AntialiasPlan, antialias_kernel, kDependent);

// Output 0 of `node` by filters over input 0.
void add_antialias(Lowering& lowering, const Node& node, const Resize& params);

}  // namespace etch
