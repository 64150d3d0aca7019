// Lowering of Dequantize: all of it by the runtime.
#include "compiler/ops/quantize_v2/lower.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/dequantize/op.h"

namespace etch {

void lower_dequantize(Lowering& lowering, const Node& node) {
  const auto& params = params_of<DequantizeParams>(node);
  const auto rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  const bool in_memory = !lowering.is_constant(node, 0);
  const Order order = in_memory ? order_like(lowering.view(node, 0)) : row_major(rank);
  const View y = lowering.new_output(node, 0, order);
  auto step = std::make_unique<DequantizeRangeStep>();
  step->kind = "dequantize";
  step->header = "etch_quantize.h";
  step->summary = cat("Dequantize ", name_of(params.mode), " from ", tensorflow_name(params.type));
  StepArguments arguments(lowering, node, *step);
  QuantizeV2Rule rule;
  rule.mode = params.mode;
  rule.narrow_range = params.narrow_range;
  rule.type = params.type;
  plan_rule(step->plan, rule);
  plan_rows(step->plan, params.slices, arguments, y);
  step->plan.quantized = element_of(params.type);
  arguments.add(std::move(step));
}

}  // namespace etch
