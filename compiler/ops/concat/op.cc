// Resolves Concat; see op.h.
#include "compiler/ops/concat/op.h"

#include <limits>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/concat/append_shape.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> concat_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_concat(Lowering& lowering, const Node& node);
std::vector<PlacedInput> concat_placed(const Graph& graph, const Node& node);

namespace {
void resolve_concat(ResolveContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.has_input(i)) continue;
    context.error(DiagKind::kGraph, cat("input ", i, " is missing"));
    return;
  }
  if (!check_same_dtype(context, context.input_count())) return;
  if (!context.has_attr("axis")) {
    context.attr_error("axis", "is missing");
    return;
  }
  Shape shape = context.shape(0);
  const auto axis = axis_attr(context, "axis", 0, rank_of(shape));
  if (!axis) return;
  for (int i = 1; i < context.input_count(); ++i) {
    if (!append_shape(context, 0, i, as_index(*axis), shape)) return;
  }
  if (context.node().op_type == "OutputShape") context.int_attr("output", 0);  // for lower/ports
  context.set_output(0, context.dtype(0), shape);
  context.set_params(Concat{*axis, shape});
}

constexpr OpName kConcatNames[] = {{kOnnx, "Concat", 4}, {kEtch, "OutputShape", 1}};
}  // namespace

extern const OpDef kOp_concat = {
    .folder = "concat",
    .names = kConcatNames,
    .arity = {.min_inputs = 1, .max_inputs = std::numeric_limits<int>::max()},
    .resolve = resolve_concat,
    .reference = concat_reference,
    .lower = lower_concat,
    .layout = any_order_rule,
    .placed = concat_placed};

}  // namespace etch
