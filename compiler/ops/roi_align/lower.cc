// Lowering of RoiAlign.
#include "compiler/kernels/select/roi_align.h"
#include "compiler/ops/op.h"
#include "compiler/ops/roi_align/op.h"

namespace etch {

void lower_roi_align(Lowering& lowering, const Node& node) {
  const auto& params = params_of<RoiAlign>(node);
  const Shape& x = *lowering.value(node.inputs[0]).shape;
  RoiAlignPlan plan;
  plan.images = static_cast<int>(x[0]);
  plan.channels = static_cast<int>(x[1]);
  plan.height = static_cast<int>(x[2]);
  plan.width = static_cast<int>(x[3]);
  plan.count = static_cast<int>((*lowering.value(node.inputs[1]).shape)[0]);
  plan.rows = static_cast<int>(params.rows);
  plan.cols = static_cast<int>(params.cols);
  plan.sampling = static_cast<int>(params.sampling);
  plan.is_max = params.is_max;
  plan.half_pixel = params.half_pixel;
  plan.scale = params.scale;
  add_roi_align(lowering, node, plan);
}

}  // namespace etch
