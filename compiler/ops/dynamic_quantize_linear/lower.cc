// Lowering of DynamicQuantizeLinear: one step finds scale and zero point, one quantizes.
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/quantize/scales.h"
#include "compiler/kernels/rows/expression.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/dynamic_quantize_linear/op.h"

namespace etch {

namespace {
// x in any order, but without gaps: the range of a tensor does not depend on its order.
View dense_input(Lowering& lowering, const Node& node) {
  const View& x = lowering.view(node, 0);
  const Order order = order_like(x);
  return is_contiguous(x, order) ? x : lowering.contiguous(node, 0, row_major(x.rank()));
}
}  // namespace

void lower_dynamic_quantize_linear(Lowering& lowering, const Node& node) {
  if (element_count(*lowering.value(node.inputs[0]).shape) == 0) {
    lowering.unsupported(node, "an empty input (a size of 0) cannot be compiled");
    return;
  }
  const View x = dense_input(lowering, node);
  const bool used[] = {node.outputs[1] != kNoValue, node.outputs[2] != kNoValue};
  const View scale = used[0] ? lowering.new_output(node, 1, {}) : lowering.scratch(DType::kF32, 1);
  const View zero_point =
      used[1] ? lowering.new_output(node, 2, {}) : lowering.scratch(DType::kU8, 1);
  auto step = std::make_unique<DynamicRangeStep>();
  step->kind = "range";
  step->summary = "find scale and zero point from the range of the values";
  step->plan.n = static_cast<int>(element_count(x.shape));
  const View lanes = lowering.scratch(DType::kF32, 2 * lowering.isa().lanes);
  lowering.add(node, std::move(step),
               {{"x", &x}, {"lanes", &lanes}, {"scale", &scale}, {"zero_point", &zero_point}}, 2,
               1);
  if (node.outputs[0] != kNoValue) add_dynamic_quantization(lowering, node, scale, zero_point);
}

}  // namespace etch
