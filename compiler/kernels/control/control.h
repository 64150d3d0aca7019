// Steps of loops; the plans are in templates/kernels/control/control.h.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/control/control.h"

namespace etch {

ETCH_PLAN_STEP(NextTripStep, NextTripPlan, next_trip_kernel, kDependent);
ETCH_PLAN_STEP(PutSliceStep, PutSlicePlan, put_slice_kernel, kDependent);

}  // namespace etch
