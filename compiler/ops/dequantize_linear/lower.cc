// Lowering of DequantizeLinear: SIMD code for 8 bits with one constant scale, else rows.
#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/quantize/scales.h"
#include "compiler/kernels/rows/elementwise.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/memory_order.h"
#include "compiler/lower/nest.h"
#include "compiler/ops/dequantize_linear/op.h"

namespace etch {

void lower_dequantize_linear(Lowering& lowering, const Node& node) {
  const auto& params = params_of<DequantizeLinearParams>(node);
  const bool per_tensor =
      params.x && params.x->scale.size() == 1 && params.x->zero_point.size() == 1;
  if (!per_tensor || !is_8bit(*lowering.value(node.inputs[0]).dtype)) {
    add_dequantization(lowering, node, params.axis);
    return;
  }
  const View& from = lowering.view(node, 0);
  const View y = lowering.new_output(node, 0, memory_order(from));
  const Order order = memory_order(y);
  // A part of another tensor may have gaps between its elements, which vectors do not leave out.
  if (!has_order(y, order)) return add_dequantization(lowering, node, params.axis);
  const View x = lowering.ordered(node, 0, order);
  const View* const views[] = {&x, &y};
  auto step = std::make_unique<DequantizeStep>();
  step->kind = "dequantize";
  step->plan.nest = make_nest(views);
  ETCH_CHECK(step->plan.nest.out_step == 1);
  step->plan.scale = params.x->scale_at(0);
  step->plan.zero_point = params.x->zero_point_at(0) + lowering.stored_offset(x);
  step->summary = cat("dequantize: scale ", decimal(step->plan.scale), ", zero point ",
                      params.x->zero_point_at(0));
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
