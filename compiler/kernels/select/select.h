// Steps that pick, compare or choose at run time; the plans are in
// templates/kernels/select/select.h.
#pragma once

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/select/select.h"

namespace etch {

ETCH_PLAN_STEP(CompareStep, ComparePlan, compare_kernel, kDependent);
ETCH_PLAN_STEP(WhereStep, WherePlan, where_kernel, kDependent);
ETCH_PLAN_STEP(GatherStep, GatherPlan, gather_kernel, kDependent);
ETCH_PLAN_STEP(GatherHalvesStep, GatherHalvesPlan, gather_halves_kernel, kDependent);
ETCH_PLAN_STEP(GatherElementsStep, GatherElementsPlan, gather_elements_kernel, kDependent);

// How these kernels see elements of a type: float32, int32, int64 or stored bytes. Reports and
// returns nothing for other types.
std::optional<DType> row_type(Lowering& lowering, const Node& node, DType type);

}  // namespace etch
