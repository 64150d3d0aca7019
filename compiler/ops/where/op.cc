// Resolves Where; see op.h.
#include "compiler/ops/where/op.h"

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> where_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_where(Lowering& lowering, const Node& node);

namespace {
void resolve_where(ResolveContext& context) {
  if (!check_dtype(context, 0, "condition", {DType::kBool})) return;
  if (context.dtype(1) != context.dtype(2)) {
    context.error(DiagKind::kType,
                  cat("X and Y must have one element type, got ", name_of(context.dtype(1)),
                      " and ", name_of(context.dtype(2))));
    return;
  }
  auto shape = broadcast_shape(context.shape(1), context.shape(2));
  if (shape) shape = broadcast_shape(*shape, context.shape(0));
  if (!shape) {
    context.error(DiagKind::kShape,
                  cat("shapes ", to_string(context.shape(0)), ", ", to_string(context.shape(1)),
                      " and ", to_string(context.shape(2)), " do not broadcast"));
    return;
  }
  context.set_output(0, context.dtype(1), *shape);
  context.set_params(Where{*shape});
}

constexpr OpName kWhereNames[] = {{kOnnx, "Where", 9}};
}  // namespace

extern const OpDef kOp_where = {.folder = "where",
                                .names = kWhereNames,
                                .arity = {.min_inputs = 3, .max_inputs = 3},
                                .resolve = resolve_where,
                                .reference = where_reference,
                                .lower = lower_where,
                                .elements = pointwise_rule,
                                .layout = any_order_rule};

}  // namespace etch
