// Resolves QLinearConcat; see op.h.
#include "compiler/ops/qlinear_concat/op.h"

#include <limits>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/concat/append_shape.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> qlinear_concat_reference(const Node& node,
                                             std::span<const Tensor* const> inputs);
void lower_qlinear_concat(Lowering& lowering, const Node& node);
std::vector<PlacedInput> qlinear_concat_placed(const Graph& graph, const Node& node);

namespace {
// Input i and its parameters; adds to `params`.
bool read_part(ResolveContext& context, int i, QLinearConcat& params) {
  if (!context.has_input(i)) {
    context.error(DiagKind::kGraph, cat("input ", i, " is missing"));
    return false;
  }
  if (!check_dtype(context, i, "X", {params.dtype})) return false;
  const auto from = scalar_quantization(context, {"X", i + 1, i + 2}, params.dtype);
  if (!from) return false;
  params.x.push_back(*from);
  return i == 2 || append_shape(context, 2, i, as_index(params.axis), params.shape);
}

void resolve_qlinear_concat(ResolveContext& context) {
  if (!context.has_input(2)) {
    context.error(DiagKind::kGraph, "input 2 (X) is missing");
    return;
  }
  if (!check_dtype(context, 2, "X", {DType::kU8, DType::kS8})) return;
  if (!context.has_attr("axis")) {
    context.attr_error("axis", "is missing");
    return;
  }
  const auto axis = axis_attr(context, "axis", 0, rank_of(context.shape(2)));
  if (!axis) return;
  QLinearConcat params{context.dtype(2), *axis, context.shape(2), {}, {}};
  const auto to = scalar_quantization(context, {"Y", 0, 1}, params.dtype);
  if (!to) return;
  params.y = *to;
  for (int i = 2; i < context.input_count(); i += 3) {
    if (!read_part(context, i, params)) return;
  }
  context.set_output(0, params.dtype, params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kQLinearConcatNames[] = {{kMicrosoft, "QLinearConcat", 1}};
}  // namespace

extern const OpDef kOp_qlinear_concat = {
    .folder = "qlinear_concat",
    .names = kQLinearConcatNames,
    .arity = {.min_inputs = 1, .max_inputs = std::numeric_limits<int>::max()},
    .resolve = resolve_qlinear_concat,
    .reference = qlinear_concat_reference,
    .lower = lower_qlinear_concat,
    .layout = any_order_rule,
    .placed = qlinear_concat_placed};

}  // namespace etch
