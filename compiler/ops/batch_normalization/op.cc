// Resolves BatchNormalization; see op.h.
#include "compiler/ops/batch_normalization/op.h"

#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> batch_normalization_reference(const Node& node,
                                                  std::span<const Tensor* const> inputs);
void lower_batch_normalization(Lowering& lowering, const Node& node);

namespace {
constexpr const char* kRoles[] = {"X", "scale", "B", "input_mean", "input_var"};

// True when the attributes ask for inference.
bool check_mode(ResolveContext& context) {
  context.ignore_attr("momentum");
  if (context.opset() < 9 && context.int_attr("spatial", 1) != 1) {
    context.attr_error("spatial", "statistics per element are not supported, only 1 is");
  }
  if (context.opset() >= 14) context.ignore_attr("training_mode");
  for (std::size_t i = 1; i < context.node().outputs.size(); ++i) {
    if (context.node().outputs[i] == kNoValue) continue;
    context.error(DiagKind::kUnsupported, "outputs besides Y belong to training");
    return false;
  }
  return !context.failed();
}

void resolve_batch_normalization(ResolveContext& context) {
  BatchNormalization params;
  params.epsilon = context.float_attr("epsilon", 1e-5F);
  if (!std::isfinite(params.epsilon)) {
    context.attr_error("epsilon", cat("must be finite, got ", decimal(params.epsilon)));
  }
  if (!check_mode(context)) return;
  params.shape = context.shape(0);
  if (params.shape.empty()) {
    context.error(DiagKind::kShape, "X must be [N, C, ...] or [N], got []");
    return;
  }
  if (params.shape.size() > 1) params.channels = params.shape[1];
  for (std::size_t d = 2; d < params.shape.size(); ++d) params.inner *= params.shape[d];
  for (int i = 0; i < 5; ++i) {
    if (!check_dtype(context, i, kRoles[i], {DType::kF32})) continue;
    if (i == 0 || context.shape(i) == Shape{params.channels}) continue;
    context.input_error(
        DiagKind::kShape, i, kRoles[i],
        cat("must be [", params.channels, "], one per channel, got ", to_string(context.shape(i))));
  }
  if (context.failed()) return;
  context.set_output(0, DType::kF32, params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kBatchNormalizationNames[] = {{kOnnx, "BatchNormalization", 7}};
}  // namespace

extern const OpDef kOp_batch_normalization = {
    .folder = "batch_normalization",
    .names = kBatchNormalizationNames,
    .arity = {.min_inputs = 5, .max_inputs = 5, .min_outputs = 1, .max_outputs = 5},
    .resolve = resolve_batch_normalization,
    .reference = batch_normalization_reference,
    .lower = lower_batch_normalization,
    .elements = pointwise_rule,
    .layout = any_order_rule};

}  // namespace etch
