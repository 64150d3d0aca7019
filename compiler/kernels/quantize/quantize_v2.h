// Steps of TensorFlow's QuantizeV2 and Dequantize; the plans are in
// templates/kernels/quantize/quantize_v2.h.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/quantize/quantize_v2.h"

namespace etch {

#define ETCH_STEP(Step, Plan, function)  \
  class Step : public StagedStep<Step> { \
   public:                               \
    Plan plan;                           \
    template <class S>                   \
    void kernel(S& s) const {            \
      function(s, plan);                 \
    }                                    \
  }

ETCH_STEP(QuantizeV2Step, QuantizeV2Plan, quantize_v2_kernel);
ETCH_STEP(DequantizeV2Step, DequantizeV2Plan, dequantize_v2_kernel);
ETCH_STEP(QuantizeRangeStep, RangePlan, quantize_range_kernel);
ETCH_STEP(DequantizeRangeStep, RangePlan, dequantize_range_kernel);
ETCH_STEP(RangeEndStep, RangeEndPlan, range_end_kernel);

#undef ETCH_STEP

}  // namespace etch
