// Lowering of QLinearSoftmax along the last axis.
#include <memory>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_softmax/op.h"
#include "compiler/steps/elementwise.h"
#include "compiler/steps/lowering.h"
#include "compiler/steps/pack.h"

namespace etch {

void lower_qlinear_softmax(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QLinearSoftmax>(node);
  if (params.rows.inner != 1) {
    lowering.unsupported(node, "softmax over an axis that is not the last cannot be compiled yet");
    return;
  }
  const Order order = row_major(lowering.view(node, 0).rank());
  const View x = lowering.contiguous(node, 0, order);
  const View y = lowering.new_output(node, 0, order);
  auto step = std::make_unique<QLinearSoftmaxStep>();
  step->kind = "softmax";
  step->plan.rows = static_cast<int>(params.rows.outer);
  step->plan.n = static_cast<int>(params.rows.size);
  step->plan.y_inverse = params.inverse_scale;
  step->plan.y_zero_point = params.y_zero_point;
  step->plan.y_stored = lowering.stored_offset(y);
  step->constants.push_back(
      float_array("table", params.table, "exponentials of the 256 differences to the maximum"));
  step->summary =
      cat("softmax of ", params.rows.outer, " rows of ", params.rows.size, " quantized values");
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
