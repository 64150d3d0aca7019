// Resolves TopK; see op.h.
#include "compiler/ops/top_k/op.h"

#include <optional>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> top_k_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_top_k(Lowering& lowering, const Node& node);

namespace {
std::optional<std::int64_t> count_of(ResolveContext& context) {
  if (context.opset() < 10) {
    if (context.has_attr("k")) return context.int_attr("k", 0);
    context.attr_error("k", "is missing");
    return std::nullopt;
  }
  if (!context.has_input(1)) {
    context.error(DiagKind::kGraph, "input 1 (k) is missing");
    return std::nullopt;
  }
  const auto values = constant_ints(context, 1, "k");
  if (!values) return std::nullopt;
  if (values->size() == 1) return values->front();
  context.input_error(DiagKind::kShape, 1, "k", cat("must have one element, got ", values->size()));
  return std::nullopt;
}

void resolve_top_k(ResolveContext& context) {
  if (!check_dtype(context, 0, "X",
                   {DType::kF32, DType::kS32, DType::kS64, DType::kU8, DType::kS8})) {
    return;
  }
  TopK params;
  params.shape = context.shape(0);
  const auto axis = axis_attr(context, "axis", -1, rank_of(params.shape));
  const bool largest = context.opset() < 11 || context.int_attr("largest", 1) != 0;
  if (context.opset() >= 11) context.ignore_attr("sorted");
  const auto count = count_of(context);
  if (!axis || !count) return;
  params.axis = *axis;
  params.kind = largest ? TopK::Kind::kLargest : TopK::Kind::kSmallest;
  std::int64_t& size = params.shape[as_index(*axis)];
  if (*count < 0 || *count > size) {
    context.error(DiagKind::kShape, cat("k must be in [0, ", size, "], got ", *count));
    return;
  }
  size = *count;
  context.set_output(0, context.dtype(0), params.shape);
  context.set_output(1, DType::kS64, params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kTopKNames[] = {{kOnnx, "TopK", 1}};
}  // namespace

extern const OpDef kOp_top_k = {
    .folder = "top_k",
    .names = kTopKNames,
    .arity = {.min_inputs = 1, .max_inputs = 2, .min_outputs = 1, .max_outputs = 2},
    .resolve = resolve_top_k,
    .reference = top_k_reference,
    .lower = lower_top_k};

}  // namespace etch
