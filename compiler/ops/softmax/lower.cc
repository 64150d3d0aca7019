// Lowering of Softmax and LogSoftmax: dense rows where the axis is the last, else steps from one
// element to the next.
#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/elementwise.h"
#include "compiler/kernels/rows/normalize.h"
#include "compiler/ops/op.h"
#include "compiler/ops/softmax/op.h"

namespace etch {

void lower_softmax(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<Softmax>(node);
  const SoftmaxRows& rows = params.rows;
  const bool logarithm = params.kind == Softmax::Kind::kLogarithm;
  if (logarithm || rows.inner != 1) {
    add_softmax_rows(lowering, node, {rows.outer, rows.size, rows.inner},
                     logarithm ? SoftmaxResult::kLogarithm : SoftmaxResult::kShare);
    return;
  }
  const Order order = row_major(lowering.view(node, 0).rank());
  // The step reads nothing but x, which may be the caller's then.
  const View& given = lowering.view(node, 0);
  const View x = is_contiguous(given, order) ? given : lowering.contiguous(node, 0, order);
  const View y = lowering.new_dense_output(node, 0, order);
  auto step = std::make_unique<SoftmaxStep>();
  step->kind = "softmax";
  step->plan = {static_cast<int>(rows.outer), static_cast<int>(rows.size)};
  step->summary = cat("softmax of ", counted(rows.outer, "row"), " of ", rows.size);
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
