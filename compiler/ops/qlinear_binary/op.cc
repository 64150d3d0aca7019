// Resolves QLinearAdd and QLinearMul; see op.h.
#include "compiler/ops/qlinear_binary/op.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> qlinear_binary_reference(const Node& node,
                                             std::span<const Tensor* const> inputs);

namespace {
// True when A is the scalar side on the innermost axis where the shapes, aligned at the end, are
// not both 1; also when there is no such axis.
bool a_is_scalar_side(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) return a.empty();
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 1; i <= common; ++i) {
    const std::int64_t size_a = a[a.size() - i];
    const std::int64_t size_b = b[b.size() - i];
    if (size_a != 1 || size_b != 1) return size_a == 1;
  }
  return true;
}

void check_factors(ResolveContext& context, const QLinearBinary& params) {
  const bool add = params.kind == QLinearBinary::Kind::kAdd;
  const float product = params.a.scale * params.b.scale;
  const float first = add ? params.a.scale / params.c.scale : product / params.c.scale;
  const float second = add ? params.b.scale / params.c.scale : first;
  if (std::isfinite(first) && std::isfinite(second)) return;
  context.error(DiagKind::kQuant, "the ratio of input and output scales must be finite in float32");
}

void resolve(ResolveContext& context) {
  if (!check_dtype(context, 0, "A", {DType::kU8, DType::kS8})) return;
  if (!context.has_input(3)) {
    context.error(DiagKind::kGraph, "input 3 (B) is missing");
    return;
  }
  if (!check_dtype(context, 3, "B", {context.dtype(0)})) return;
  const DType dtype = context.dtype(0);
  const auto a = scalar_quantization(context, {"A", 1, 2}, dtype);
  const auto b = scalar_quantization(context, {"B", 4, 5}, dtype);
  const auto c = scalar_quantization(context, {"C", 6, 7}, dtype);
  if (!a || !b || !c) return;
  const auto shape = broadcast_shape(context.shape(0), context.shape(3));
  if (!shape) {
    context.error(DiagKind::kShape, cat("shapes ", to_string(context.shape(0)), " and ",
                                        to_string(context.shape(3)), " do not broadcast"));
    return;
  }
  const bool add = context.node().op_type == "QLinearAdd";
  QLinearBinary params{add ? QLinearBinary::Kind::kAdd : QLinearBinary::Kind::kMul,
                       dtype,
                       *a,
                       *b,
                       *c,
                       *shape,
                       broadcast_view(context.shape(0), *shape),
                       broadcast_view(context.shape(3), *shape),
                       add && a_is_scalar_side(context.shape(0), context.shape(3))};
  check_factors(context, params);
  context.set_output(0, dtype, *shape);
  context.set_params(std::move(params));
}

constexpr OpName kNames[] = {{kMicrosoft, "QLinearAdd", 1}, {kMicrosoft, "QLinearMul", 1}};
}  // namespace

void lower_qlinear_binary(Lowering& lowering, const Node& node);

extern const OpDef kOp_qlinear_binary = {.folder = "qlinear_binary",
                                         .names = kNames,
                                         .arity = {.min_inputs = 2, .max_inputs = 8},
                                         .resolve = resolve,
                                         .reference = qlinear_binary_reference,
                                         .lower = lower_qlinear_binary,
                                         .layout = elementwise_rule};

}  // namespace etch
