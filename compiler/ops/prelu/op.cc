// Resolves PRelu; see op.h.
#include "compiler/ops/prelu/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> prelu_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_prelu(Lowering& lowering, const Node& node);

namespace {
void resolve_prelu(ResolveContext& context) {
  if (!check_dtype(context, 0, "X", {DType::kF32}) ||
      !check_dtype(context, 1, "slope", {DType::kF32})) {
    return;
  }
  const Shape& x = context.shape(0);
  const Shape& slope = context.shape(1);
  if (broadcast_shape(x, slope) != x) {
    context.error(DiagKind::kShape, cat("slope ", to_string(slope),
                                        " does not broadcast to X, which is ", to_string(x)));
    return;
  }
  context.set_output(0, DType::kF32, x);
  context.set_params(PRelu{x, broadcast_view(slope, x)});
}

constexpr OpName kPreluNames[] = {{kOnnx, "PRelu", 7}};
}  // namespace

extern const OpDef kOp_prelu = {.folder = "prelu",
                                .names = kPreluNames,
                                .arity = {.min_inputs = 2, .max_inputs = 2},
                                .resolve = resolve_prelu,
                                .reference = prelu_reference,
                                .lower = lower_prelu,
                                .elements = pointwise_rule,
                                .layout = any_order_rule};

}  // namespace etch
