// See roi_align.h.
#include "compiler/kernels/select/roi_align.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_PLAN_STEP(RoiAlignStep, RoiAlignPlan, roi_align_kernel, kDependent);
ETCH_INSTANTIATE_STEP(RoiAlignStep);

void add_roi_align(Lowering& lowering, const Node& node, RoiAlignPlan plan) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<RoiAlignStep>();
  step->kind = "roi_align";
  step->summary = cat(plan.is_max ? "maxima" : "averages", " within ", counted(plan.count, "box"),
                      ", ", plan.rows, "x", plan.cols, " each");
  StepArguments arguments(lowering, node, *step);
  plan.x = arguments.parameter(0, "x").argument;
  plan.boxes = arguments.parameter(1, "boxes").argument;
  plan.images_of = arguments.parameter(2, "images").argument;
  plan.y = arguments.output("y", lowering.new_dense_output(node, 0, row_major(4)));
  step->plan = std::move(plan);
  arguments.add(std::move(step));
}

}  // namespace etch
