// Lowering of QLinearSoftmax: rows that are dense in memory, whatever their axis.
#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/elementwise.h"
#include "compiler/lower/lowering.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_softmax/op.h"
#include "compiler/program/constants.h"

namespace etch {

namespace {
// The memory order in which the elements of a row are neighbours.
Order order_of_rows(const Shape& shape, const SoftmaxRows& rows) {
  Order order = row_major(static_cast<int>(shape.size()));
  std::int64_t inner = 1;
  for (std::size_t d = shape.size(); rows.inner != 1 && d-- > 0; inner *= shape[d]) {
    if (inner != rows.inner || shape[d] != rows.size) continue;
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(d));
    order.push_back(static_cast<int>(d));
    break;
  }
  return order;
}
}  // namespace

void lower_qlinear_softmax(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<QLinearSoftmax>(node);
  const Order order = order_of_rows(*lowering.value(node.inputs[0]).shape, params.rows);
  const View x = lowering.contiguous(node, 0, order);
  const View y = lowering.new_dense_output(node, 0, order);
  auto step = std::make_unique<QLinearSoftmaxStep>();
  step->kind = "softmax";
  step->plan.rows = static_cast<int>(params.rows.outer * params.rows.inner);
  step->plan.n = static_cast<int>(params.rows.size);
  step->plan.y_inverse = params.inverse_scale;
  step->plan.y_zero_point = params.y_zero_point;
  step->plan.y_stored = lowering.stored_offset(y);
  step->constants.push_back(
      float_array("table", params.table, "exponentials of the 256 differences to the maximum"));
  step->summary = cat("softmax of ", counted(params.rows.outer * params.rows.inner, "row"), " of ",
                      params.rows.size, " quantized values");
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
