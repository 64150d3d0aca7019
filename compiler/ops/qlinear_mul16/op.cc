// Checks and shapes of QLinearMul16; see op.h.
#include "compiler/ops/qlinear_mul16/op.h"

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/result_limits.h"

namespace etch {

namespace {

constexpr OpName kQLinearMul16Names[] = {{kEtch, "QLinearMul16", 1}};
constexpr int kFactorA = 0, kFactorB = 5;

void resolve_qlinear_mul16(ResolveContext& context) {
  if (!check_dtype(context, kFactorA, "a", {DType::kU16, DType::kS16})) return;
  const DType type = context.dtype(kFactorA);
  if (!check_dtype(context, kFactorB, "b", {type})) return;
  const auto a = scalar_quantization(context, {"a", 1, 2}, type);
  const auto y = scalar_quantization(context, {"y", 3, 4}, type);
  const auto b = scalar_quantization(context, {"b", 6, 7}, type);
  const auto shape = broadcast_shape(context.shape(kFactorA), context.shape(kFactorB));
  if (!shape) {
    context.error(DiagKind::kShape, cat("shapes ", to_string(context.shape(kFactorA)), " and ",
                                        to_string(context.shape(kFactorB)), " do not broadcast"));
  }
  const auto limits = read_result_limits(context, type);
  if (!a || !b || !y || !shape || !limits) return;
  const QLinearMul16 params{type, *a, *b, *y, *shape, limits->low, limits->high};
  const int shift = params.scale().shift();
  if (shift < 1 || shift > 61)
    context.error(DiagKind::kQuant, "the ratio of its scales is extreme");
  context.set_output(0, type, *shape);
  context.set_params(params);
}

}  // namespace

extern const OpDef kOp_qlinear_mul16 = {.folder = "qlinear_mul16",
                                        .names = kQLinearMul16Names,
                                        .arity = {.min_inputs = 8, .max_inputs = 8},
                                        .resolve = resolve_qlinear_mul16,
                                        .reference = reference_qlinear_mul16,
                                        .lower = lower_qlinear_mul16,
                                        .elements = pointwise_rule,
                                        .layout = any_order_rule};

}  // namespace etch
