// Resolves Relu, LeakyRelu, Sigmoid and Round; see op.h.
#include "compiler/ops/activation/op.h"

#include <cmath>

#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> activation_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
void resolve_activation(ResolveContext& context) {
  const std::string& type = context.node().op_type;
  const bool integers = type == "Relu" && context.opset() >= 14;
  if (!(integers ? check_dtype(context, 0, "X",
                               {DType::kF32, DType::kS8, DType::kS16, DType::kS32, DType::kS64})
                 : check_dtype(context, 0, "X", {DType::kF32}))) {
    return;
  }
  Activation params;
  if (type == "Sigmoid") params.kind = Activation::Kind::kSigmoid;
  if (type == "Round") params.kind = Activation::Kind::kRound;
  if (type == "LeakyRelu") {
    params.kind = Activation::Kind::kLeakyRelu;
    params.alpha = context.float_attr("alpha", 0.01F);
    if (!std::isfinite(params.alpha)) {
      context.attr_error("alpha", "must be finite");
      return;
    }
  }
  context.set_output(0, context.dtype(0), context.shape(0));
  context.set_params(params);
}

constexpr OpName kActivationNames[] = {
    {kOnnx, "Relu", 6}, {kOnnx, "LeakyRelu", 6}, {kOnnx, "Sigmoid", 6}, {kOnnx, "Round", 11}};
}  // namespace

void lower_activation(Lowering& lowering, const Node& node);

extern const OpDef kOp_activation = {.folder = "activation",
                                     .names = kActivationNames,
                                     .arity = {.min_inputs = 1, .max_inputs = 1},
                                     .resolve = resolve_activation,
                                     .reference = activation_reference,
                                     .lower = lower_activation,
                                     .elements = pointwise_rule,
                                     .layout = any_order_rule};

}  // namespace etch
