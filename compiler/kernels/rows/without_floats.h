// Steps over single elements for cores where floats are expensive; the plans are in
// templates/kernels/rows/without_floats.h, and what is in them is proved in
// compiler/program/requantize/product_line.h and runtime/etch_quantize_bits.h.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/without_floats.h"

namespace etch {

ETCH_PLAN_STEP(MultiplyLineStep, MultiplyLinePlan, multiply_line_kernel, kDivisible);
ETCH_PLAN_STEP(QuantizeBitsStep, QuantizeBitsPlan, quantize_bits_kernel, kDivisible);

}  // namespace etch
