// Resolves ArgMax and ArgMin; see op.h.
#include "compiler/ops/arg_max/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> arg_extreme_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_arg_extreme(Lowering& lowering, const Node& node);

namespace {
void resolve_arg_max(ResolveContext& context) {
  if (!check_dtype(context, 0, "data",
                   {DType::kF32, DType::kS32, DType::kS64, DType::kU8, DType::kS8})) {
    return;
  }
  const Shape& from = context.shape(0);
  ArgExtreme params;
  params.kind =
      context.node().op_type == "ArgMax" ? ArgExtreme::Kind::kMax : ArgExtreme::Kind::kMin;
  const bool keep = context.int_attr("keepdims", 1) != 0;
  const bool last = context.opset() >= 12 && context.int_attr("select_last_index", 0) != 0;
  params.tie = last ? ArgExtreme::Tie::kLast : ArgExtreme::Tie::kFirst;
  const auto axis = axis_attr(context, "axis", 0, rank_of(from));
  if (!axis) return;
  params.axis = *axis;
  params.shape = from;
  if (from[as_index(*axis)] == 0) {
    context.error(DiagKind::kShape, cat("axis ", *axis, " has no elements"));
    return;
  }
  params.shape[as_index(*axis)] = 1;
  if (!keep) params.shape.erase(params.shape.begin() + *axis);
  context.set_output(0, DType::kS64, params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kArgMaxNames[] = {{kOnnx, "ArgMax", 1}, {kOnnx, "ArgMin", 1}};
}  // namespace

extern const OpDef kOp_arg_max = {.folder = "arg_max",
                                  .names = kArgMaxNames,
                                  .arity = {.min_inputs = 1, .max_inputs = 1},
                                  .resolve = resolve_arg_max,
                                  .reference = arg_extreme_reference,
                                  .lower = lower_arg_extreme};

}  // namespace etch
