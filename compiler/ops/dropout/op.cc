// Resolves Dropout; see op.h.
#include "compiler/ops/dropout/op.h"

#include <algorithm>

#include "compiler/kernels/move/relabel.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
bool is_training(ResolveContext& context) {
  if (!context.has_input(2)) return false;
  const Tensor* const mode = context.constant(2);
  if (mode == nullptr) return true;
  return std::ranges::any_of(mode->bytes(), [](std::byte b) { return b != std::byte{0}; });
}

Tensor all_true(const ResolveContext& context) {
  const DType type = context.opset() >= 10 ? DType::kBool : context.dtype(0);
  Tensor mask(type, context.shape(0));
  if (type == DType::kF32) {
    std::ranges::fill(mask.as<float>(), 1.0F);
  } else {
    std::ranges::fill(mask.mutable_bytes(), std::byte{1});
  }
  return mask;
}

// Both outputs; the second is known already.
std::vector<Tensor> dropout_reference(const Node& node, std::span<const Tensor* const> inputs) {
  return relabel(node, inputs.first(1));
}

void resolve_dropout(ResolveContext& context) {
  if (context.opset() < 12) context.ignore_attr("ratio");
  context.ignore_attr("seed");
  if (is_training(context)) {
    context.input_error(DiagKind::kUnsupported, 2, "training_mode", "must be the constant false");
    return;
  }
  const bool mask = context.node().outputs.size() > 1;
  if (mask && context.opset() < 10 && context.dtype(0) != DType::kF32) {
    context.error(DiagKind::kUnsupported, "a mask of this type cannot be made");
    return;
  }
  context.set_params(Relabel{context.shape(0)});
  context.set_output(0, context.dtype(0), context.shape(0));
  if (mask) context.set_constant_output(1, all_true(context));
}

constexpr OpName kDropoutNames[] = {{kOnnx, "Dropout", 7}};
}  // namespace

extern const OpDef kOp_dropout = {
    .folder = "dropout",
    .names = kDropoutNames,
    .arity = {.min_inputs = 1, .max_inputs = 3, .min_outputs = 1, .max_outputs = 2},
    .resolve = resolve_dropout,
    .reference = dropout_reference,
    .lower = lower_relabel,
    .elements = moved_rule,
    .layout = relabel_rule};

}  // namespace etch
