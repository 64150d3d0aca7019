// Steps that convert float32 from or to float16, bfloat16 or float64; the kernel is in
// templates/kernels/rows/other_float.h.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/other_float.h"

namespace etch {

ETCH_PLAN_STEP(OtherFloatStep, CastPlan, other_float_kernel, kDivisible);

}  // namespace etch
