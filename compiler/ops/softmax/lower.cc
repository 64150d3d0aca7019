// Lowering of float Softmax along the last axis.
#include <memory>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/softmax/op.h"
#include "compiler/steps/elementwise.h"
#include "compiler/steps/lowering.h"

namespace etch {

void lower_softmax(Lowering& lowering, const Node& node) {
  const SoftmaxRows& rows = params_of<Softmax>(node).rows;
  if (rows.inner != 1) {
    lowering.unsupported(node, "softmax over an axis that is not the last cannot be compiled yet");
    return;
  }
  const Order order = row_major(lowering.view(node, 0).rank());
  const View x = lowering.contiguous(node, 0, order);
  const View y = lowering.new_output(node, 0, order);
  auto step = std::make_unique<SoftmaxStep>();
  step->kind = "softmax";
  step->plan = {static_cast<int>(rows.outer), static_cast<int>(rows.size)};
  step->summary = cat("softmax of ", rows.outer, " rows of ", rows.size);
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
