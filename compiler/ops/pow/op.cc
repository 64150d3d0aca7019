// Resolves Pow; see op.h.
#include "compiler/ops/pow/op.h"

#include <cmath>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

float exponent_at(const Tensor& y, std::int64_t i);
std::vector<Tensor> pow_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
Function function_of(float exponent) {
  if (exponent == 2.0F) return Function::kSquare;
  return exponent == 3.0F ? Function::kCube : Function::kPow;
}

void resolve_pow(ResolveContext& context) {
  const bool x = check_dtype(context, 0, "X", {DType::kF32});
  if (!check_dtype(context, 1, "Y", {DType::kF32, DType::kS32, DType::kS64}) || !x) return;
  const auto shape = broadcast_shape(context.shape(0), context.shape(1));
  if (!shape) {
    context.error(DiagKind::kShape, cat("shapes ", to_string(context.shape(0)), " and ",
                                        to_string(context.shape(1)), " do not broadcast"));
    return;
  }
  const Tensor* const exponents = context.constant(1);
  if (exponents == nullptr && context.dtype(1) != DType::kF32) {
    context.needs_constant(1, "Y", "must be known at compile time when it holds integers");
    return;
  }
  Pow params{*shape, broadcast_view(context.shape(0), *shape),
             broadcast_view(context.shape(1), *shape), std::nullopt, Function::kPow};
  if (exponents != nullptr && exponents->size() == 1) {
    params.exponent = exponent_at(*exponents, 0);
    if (!std::isfinite(*params.exponent)) {
      context.input_error(DiagKind::kUnsupported, 1, "Y", "must be finite");
      return;
    }
    params.function = function_of(*params.exponent);
  }
  context.set_output(0, DType::kF32, *shape);
  context.set_params(std::move(params));
}

constexpr OpName kPowNames[] = {{kOnnx, "Pow", 7}};
}  // namespace

void lower_pow(Lowering& lowering, const Node& node);

extern const OpDef kOp_pow = {.folder = "pow",
                              .names = kPowNames,
                              .arity = {.min_inputs = 2, .max_inputs = 2},
                              .resolve = resolve_pow,
                              .reference = pow_reference,
                              .lower = lower_pow,
                              .elements = pointwise_rule,
                              .layout = any_order_rule};

}  // namespace etch
