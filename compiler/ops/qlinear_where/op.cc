// Resolves QLinearWhere; see op.h.
#include "compiler/ops/qlinear_where/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> qlinear_where_reference(const Node& node,
                                            std::span<const Tensor* const> inputs);

namespace {
constexpr int kX = 1, kY = 4;

std::optional<Shape> output_shape(const ResolveContext& context) {
  const auto values = broadcast_shape(context.shape(kX), context.shape(kY));
  return values ? broadcast_shape(context.shape(0), *values) : std::nullopt;
}

void resolve_qlinear_where(ResolveContext& context) {
  const bool condition = check_dtype(context, 0, "condition", {DType::kBool});
  if (!check_dtype(context, kX, "X", {DType::kU8, DType::kS8})) return;
  const DType dtype = context.dtype(kX);
  if (!check_dtype(context, kY, "Y", {dtype}) || !condition) return;
  const auto x = scalar_quantization(context, {"x", 2, 3}, dtype);
  const auto y = scalar_quantization(context, {"y", 5, 6}, dtype);
  const auto z = scalar_quantization(context, {"z", 7, 8}, dtype);
  if (!x || !y || !z) return;
  const auto shape = output_shape(context);
  if (!shape) {
    context.error(DiagKind::kShape,
                  cat("shapes ", to_string(context.shape(0)), ", ", to_string(context.shape(kX)),
                      " and ", to_string(context.shape(kY)), " do not broadcast"));
    return;
  }
  context.set_output(0, dtype, *shape);
  context.set_params(QLinearWhere{
      dtype, *x, *y, *z, *shape, broadcast_view(context.shape(0), *shape),
      broadcast_view(context.shape(kX), *shape), broadcast_view(context.shape(kY), *shape)});
}

constexpr OpName kQLinearWhereNames[] = {{kMicrosoft, "QLinearWhere", 1}};
}  // namespace

void lower_qlinear_where(Lowering& lowering, const Node& node);

extern const OpDef kOp_qlinear_where = {.folder = "qlinear_where",
                                        .names = kQLinearWhereNames,
                                        .arity = {.min_inputs = 9, .max_inputs = 9},
                                        .resolve = resolve_qlinear_where,
                                        .reference = qlinear_where_reference,
                                        .lower = lower_qlinear_where,
                                        .elements = pointwise_rule,
                                        .layout = any_order_rule};

}  // namespace etch
