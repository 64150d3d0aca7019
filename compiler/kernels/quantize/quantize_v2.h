// Steps of TensorFlow's QuantizeV2 and Dequantize; the plans are in
// templates/kernels/quantize/quantize_v2.h.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/quantize/quantize_v2.h"

namespace etch {

ETCH_PLAN_STEP(QuantizeV2Step, QuantizeV2Plan, quantize_v2_kernel, kDependent);
ETCH_PLAN_STEP(DequantizeV2Step, DequantizeV2Plan, dequantize_v2_kernel, kDependent);
ETCH_PLAN_STEP(QuantizeRangeStep, RangePlan, quantize_range_kernel, kDependent);
ETCH_PLAN_STEP(DequantizeRangeStep, RangePlan, dequantize_range_kernel, kDependent);
ETCH_PLAN_STEP(RangeEndStep, RangeEndPlan, range_end_kernel, kDependent);

}  // namespace etch
