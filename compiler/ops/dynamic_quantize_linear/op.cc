// Checks and shapes of DynamicQuantizeLinear; see op.h.
#include "compiler/ops/dynamic_quantize_linear/op.h"

#include "compiler/ops/arguments.h"

namespace etch {

namespace {

constexpr OpName kDynamicQuantizeLinearNames[] = {{kOnnx, "DynamicQuantizeLinear", 11}};

void resolve_dynamic_quantize_linear(ResolveContext& context) {
  if (!check_dtype(context, 0, "x", {DType::kF32})) return;
  context.set_output(0, DType::kU8, context.shape(0));
  context.set_output(1, DType::kF32, {});
  context.set_output(2, DType::kU8, {});
}

}  // namespace

void lower_dynamic_quantize_linear(Lowering& lowering, const Node& node);

namespace {
LayoutRule layout(const Node& node) {
  return node.outputs[0] == kNoValue ? LayoutRule::kRowMajor : LayoutRule::kAnyOrder;
}
}  // namespace

extern const OpDef kOp_dynamic_quantize_linear = {
    .folder = "dynamic_quantize_linear",
    .names = kDynamicQuantizeLinearNames,
    .arity = {.min_inputs = 1, .max_inputs = 1, .min_outputs = 3, .max_outputs = 3},
    .resolve = resolve_dynamic_quantize_linear,
    .reference = reference_dynamic_quantize_linear,
    .lower = lower_dynamic_quantize_linear,
    .layout = layout};

}  // namespace etch
