// Resolves Softmax and LogSoftmax; see op.h.
#include "compiler/ops/softmax/op.h"

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> softmax_reference(const Node& node, std::span<const Tensor* const> inputs);

SoftmaxRows softmax_rows(const Shape& shape, std::int64_t axis, SoftmaxForm form) {
  const auto at = shape.begin() + axis;
  const std::int64_t outer = element_count(Shape(shape.begin(), at));
  if (form == SoftmaxForm::kTrailingAxes) return {outer, element_count(Shape(at, shape.end())), 1};
  return {outer, *at, element_count(Shape(at + 1, shape.end()))};
}

namespace {
void resolve_softmax(ResolveContext& context) {
  if (!check_dtype(context, 0, "input", {DType::kF32})) return;
  const bool one_axis = context.opset() >= 13;
  const Shape& shape = context.shape(0);
  const auto axis = axis_attr(context, "axis", one_axis ? -1 : 1, rank_of(shape));
  if (!axis) return;
  const SoftmaxForm form = one_axis ? SoftmaxForm::kOneAxis : SoftmaxForm::kTrailingAxes;
  context.set_output(0, context.dtype(0), shape);
  const bool logarithm = context.node().op_type == "LogSoftmax";
  context.set_params(Softmax{logarithm ? Softmax::Kind::kLogarithm : Softmax::Kind::kShare,
                             softmax_rows(shape, *axis, form)});
}

constexpr OpName kSoftmaxNames[] = {{kOnnx, "Softmax", 1}, {kOnnx, "LogSoftmax", 1}};
}  // namespace

void lower_softmax(Lowering& lowering, const Node& node);

extern const OpDef kOp_softmax = {.folder = "softmax",
                                  .names = kSoftmaxNames,
                                  .arity = {.min_inputs = 1, .max_inputs = 1},
                                  .resolve = resolve_softmax,
                                  .reference = softmax_reference,
                                  .lower = lower_softmax};

}  // namespace etch
