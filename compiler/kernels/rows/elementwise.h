// Steps over single elements and whole rows; the plans are in templates/kernels.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/pool/pool.h"
#include "templates/kernels/rows/byte_softmax.h"
#include "templates/kernels/rows/elementwise.h"
#include "templates/kernels/rows/rows.h"

namespace etch {

ETCH_PLAN_STEP(QuantizeStep, QuantizePlan, quantize_kernel, kDivisible);
ETCH_PLAN_STEP(DequantizeStep, DequantizePlan, dequantize_kernel, kDivisible);
ETCH_PLAN_STEP(AddStep, AddPlan, add_kernel, kDivisible);
ETCH_PLAN_STEP(MultiplyStep, MultiplyPlan, multiply_kernel, kDivisible);
ETCH_PLAN_STEP(SoftmaxStep, SoftmaxPlan, softmax_kernel, kDivisible);
ETCH_PLAN_STEP(QLinearSoftmaxStep, ByteSoftmaxPlan, byte_softmax_kernel, kDivisible);
ETCH_PLAN_STEP(PoolStep, PoolPlan, pool_kernel, kDivisible);

}  // namespace etch
