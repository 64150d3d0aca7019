// Steps over single elements and whole rows; the plans are in templates/kernels.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/pool/pool.h"
#include "templates/kernels/rows/elementwise.h"
#include "templates/kernels/rows/rows.h"

namespace etch {

#define ETCH_STEP(Step, Plan, function)  \
  class Step : public StagedStep<Step> { \
   public:                               \
    Plan plan;                           \
    Step() { divisible = true; }         \
    template <class S>                   \
    void kernel(S& s) const {            \
      function(s, plan);                 \
    }                                    \
  }

ETCH_STEP(QuantizeStep, QuantizePlan, quantize_kernel);
ETCH_STEP(DequantizeStep, DequantizePlan, dequantize_kernel);
ETCH_STEP(AddStep, AddPlan, add_kernel);
ETCH_STEP(MultiplyStep, MultiplyPlan, multiply_kernel);
ETCH_STEP(SoftmaxStep, SoftmaxPlan, softmax_kernel);
ETCH_STEP(QLinearSoftmaxStep, QLinearSoftmaxPlan, qlinear_softmax_kernel);
ETCH_STEP(PoolStep, PoolPlan, pool_kernel);

#undef ETCH_STEP

}  // namespace etch
