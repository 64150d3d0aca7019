// Steps that pick, compare or choose at run time; the plans are in
// templates/kernels/select/select.h.
#pragma once

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/select/select.h"

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

ETCH_STEP(CompareStep, ComparePlan, compare_kernel);
ETCH_STEP(WhereStep, WherePlan, where_kernel);
ETCH_STEP(GatherStep, GatherPlan, gather_kernel);
ETCH_STEP(GatherElementsStep, GatherElementsPlan, gather_elements_kernel);

#undef ETCH_STEP

// How these kernels see elements of a type: float32, int32, int64 or stored bytes. Reports and
// returns nothing for other types.
std::optional<DType> row_type(Lowering& lowering, const Node& node, DType type);

}  // namespace etch
