// Resolves Add, Sub, Mul, Div, Max and Min; see op.h.
#include "compiler/ops/arithmetic/op.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> arithmetic_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
Arithmetic::Kind kind_of(const std::string& op_type) {
  if (op_type == "Add") return Arithmetic::Kind::kAdd;
  if (op_type == "Sub") return Arithmetic::Kind::kSub;
  if (op_type == "Mul") return Arithmetic::Kind::kMul;
  if (op_type == "Max") return Arithmetic::Kind::kMax;
  if (op_type == "Min") return Arithmetic::Kind::kMin;
  ETCH_CHECK(op_type == "Div");
  return Arithmetic::Kind::kDiv;
}

bool divides_by_constant_zero(const ResolveContext& context) {
  const Tensor* divisor = context.constant(1);
  if (divisor == nullptr || divisor->dtype() == DType::kF32) return false;
  const std::vector<std::int64_t> values = divisor->integers();
  return std::find(values.begin(), values.end(), 0) != values.end();
}

void resolve(ResolveContext& context) {
  if (!check_dtype(context, 0, "A", {DType::kF32, DType::kS32, DType::kS64})) return;
  if (!check_same_dtype(context, 2)) return;
  const auto shape = broadcast_shape(context.shape(0), context.shape(1));
  if (!shape) {
    context.error(DiagKind::kShape, cat("shapes ", to_string(context.shape(0)), " and ",
                                        to_string(context.shape(1)), " do not broadcast"));
    return;
  }
  const Arithmetic::Kind kind = kind_of(context.node().op_type);
  if (kind == Arithmetic::Kind::kDiv && divides_by_constant_zero(context)) {
    context.input_error(DiagKind::kTensor, 1, "B", "must not hold 0, the divisor of integers");
    return;
  }
  context.set_output(0, context.dtype(0), *shape);
  context.set_params(Arithmetic{kind, *shape, broadcast_view(context.shape(0), *shape),
                                broadcast_view(context.shape(1), *shape)});
}

constexpr OpName kNames[] = {{kOnnx, "Add", 7}, {kOnnx, "Sub", 7}, {kOnnx, "Mul", 7},
                             {kOnnx, "Div", 7}, {kOnnx, "Max", 8}, {kOnnx, "Min", 8}};
}  // namespace

void lower_arithmetic(Lowering& lowering, const Node& node);

extern const OpDef kOp_arithmetic = {.folder = "arithmetic",
                                     .names = kNames,
                                     .arity = {.min_inputs = 2, .max_inputs = 2},
                                     .resolve = resolve,
                                     .reference = arithmetic_reference,
                                     .lower = lower_arithmetic,
                                     .layout = elementwise_rule};

}  // namespace etch
