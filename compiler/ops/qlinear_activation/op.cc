// Resolves QLinearSigmoid and QLinearLeakyRelu; see op.h.
#include "compiler/ops/qlinear_activation/op.h"

#include <cmath>

#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> qlinear_activation_reference(const Node& node,
                                                 std::span<const Tensor* const> inputs);

namespace {
void resolve_qlinear_activation(ResolveContext& context) {
  if (!check_dtype(context, 0, "X", {DType::kU8, DType::kS8})) return;
  QLinearActivation params;
  params.dtype = context.dtype(0);
  params.function.kind = Activation::Kind::kSigmoid;
  if (context.node().op_type == "QLinearLeakyRelu") {
    params.function = {Activation::Kind::kLeakyRelu, context.float_attr("alpha", 0.01F)};
    if (!std::isfinite(params.function.alpha)) context.attr_error("alpha", "must be finite");
  }
  const auto from = scalar_quantization(context, {"X", 1, 2}, params.dtype);
  const auto to = scalar_quantization(context, {"Y", 3, 4}, params.dtype);
  if (!from || !to || context.failed()) return;
  params.x = *from;
  params.y = *to;
  context.set_output(0, params.dtype, context.shape(0));
  context.set_params(params);
}

constexpr OpName kQLinearActivationNames[] = {{kMicrosoft, "QLinearSigmoid", 1},
                                              {kMicrosoft, "QLinearLeakyRelu", 1}};
}  // namespace

void lower_qlinear_activation(Lowering& lowering, const Node& node);

extern const OpDef kOp_qlinear_activation = {.folder = "qlinear_activation",
                                             .names = kQLinearActivationNames,
                                             .arity = {.min_inputs = 2, .max_inputs = 5},
                                             .resolve = resolve_qlinear_activation,
                                             .reference = qlinear_activation_reference,
                                             .lower = lower_qlinear_activation,
                                             .elements = pointwise_rule,
                                             .layout = any_order_rule};

}  // namespace etch
