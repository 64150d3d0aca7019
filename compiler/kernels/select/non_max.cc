// See non_max.h.
#include "compiler/kernels/select/non_max.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_PLAN_STEP(NonMaxStep, NonMaxPlan, non_max_kernel, kDependent);

ETCH_INSTANTIATE_STEP(NonMaxStep);

void add_non_max(Lowering& lowering, const Node& node, NonMaxPlan plan, int filler,
                 const Tensor& absent) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<NonMaxStep>();
  step->kind = "non_max";
  step->summary = cat("the best of ", counted(plan.count, "box"), " of ",
                      counted(plan.classes, "class"), ", ", plan.rows, " rows");
  StepArguments arguments(lowering, node, *step);
  plan.boxes = arguments.parameter(0, "boxes").argument;
  plan.scores = arguments.parameter(1, "scores").argument;
  plan.filler = filler < 0 ? arguments.data(absent, "filler", "rows without a box").argument
                           : arguments.parameter(filler, "filler").argument;
  plan.heap = arguments.scratch("heap", lowering.scratch(DType::kS32, plan.count));
  plan.y = arguments.output("y", lowering.new_dense_output(node, 0, row_major(2)));
  step->plan = std::move(plan);
  arguments.add(std::move(step));
}

}  // namespace etch
