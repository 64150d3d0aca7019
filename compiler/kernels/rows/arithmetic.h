// Steps over rows of elements with arguments known at run time; the plans are in
// templates/kernels/rows/arithmetic.h.
#pragma once

#include <string>

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/arithmetic.h"
#include "templates/kernels/rows/qlinear_rows.h"

namespace etch {

ETCH_PLAN_STEP(CombineStep, CombinePlan, combine_kernel, kDivisible);
ETCH_PLAN_STEP(MapStep, MapPlan, map_kernel, kDivisible);
ETCH_PLAN_STEP(CastStep, CastPlan, cast_kernel, kDivisible);
ETCH_PLAN_STEP(QuantizeRowsStep, ScalePlan, quantize_rows_kernel, kDivisible);
ETCH_PLAN_STEP(DequantizeRowsStep, ScalePlan, dequantize_rows_kernel, kDivisible);
ETCH_PLAN_STEP(QLinearRowsStep, QLinearRowsPlan, qlinear_rows_kernel, kDivisible);

// Refuses `node` when output 0 has no elements.
bool refuse_empty(Lowering& lowering, const Node& node);

// y = a op b op ... with broadcasting, from the left: all inputs of `node`, at least two, of
// float32, int32, int64 or 8 bits.
void add_combination(Lowering& lowering, const Node& node, CombinePlan::Kind kind,
                     const std::string& summary);

// y = f(x): input 0 to output 0. The plan's type follows x: 8-bit limits are `as stored` for y.
void add_map(Lowering& lowering, const Node& node, MapPlan plan, std::string summary);

}  // namespace etch
