// Resolves InstanceNormalization; see op.h.
#include "compiler/ops/instance_normalization/op.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> instance_normalization_reference(const Node& node,
                                                     std::span<const Tensor* const> inputs);
void lower_instance_normalization(Lowering& lowering, const Node& node);

namespace {
void resolve_instance_normalization(ResolveContext& context) {
  InstanceNormalization params;
  params.epsilon = context.float_attr("epsilon", 1e-5F);
  if (!std::isfinite(params.epsilon)) {
    context.attr_error("epsilon", cat("must be finite, got ", decimal(params.epsilon)));
  }
  if (!check_dtype(context, 0, "input", {DType::kF32})) return;
  const Shape& x = context.shape(0);
  if (x.size() < 3 || std::find(x.begin() + 2, x.end(), 0) != x.end()) {
    context.error(DiagKind::kShape,
                  cat("x must be [N, C, ...] with elements in each plane, got ", to_string(x)));
    return;
  }
  params.channels = x[1];
  params.plane = element_count(Shape(x.begin() + 2, x.end()));
  constexpr const char* kRoles[] = {"input", "scale", "B"};
  for (int i = 1; i < 3; ++i) {
    if (!check_dtype(context, i, kRoles[i], {DType::kF32})) continue;
    if (context.shape(i) == Shape{params.channels}) continue;
    context.input_error(
        DiagKind::kShape, i, kRoles[i],
        cat("must be [", params.channels, "], one per channel, got ", to_string(context.shape(i))));
  }
  if (context.failed()) return;
  context.set_output(0, DType::kF32, x);
  context.set_params(params);
}

constexpr OpName kInstanceNormalizationNames[] = {{kOnnx, "InstanceNormalization", 6}};
}  // namespace

extern const OpDef kOp_instance_normalization = {.folder = "instance_normalization",
                                                 .names = kInstanceNormalizationNames,
                                                 .arity = {.min_inputs = 3, .max_inputs = 3},
                                                 .resolve = resolve_instance_normalization,
                                                 .reference = instance_normalization_reference,
                                                 .lower = lower_instance_normalization,
                                                 .layout = any_order_rule};

}  // namespace etch
