// The steps that lowering adds by itself: copies between memory orders, and the filling of halos.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/elementwise.h"
#include "templates/kernels/rows/rows.h"

namespace etch {

ETCH_PLAN_STEP(CopyStep, CopyPlan, copy_kernel, kDivisible);
ETCH_PLAN_STEP(FillStep, FillPlan, fill_kernel, kDivisible);

}  // namespace etch
