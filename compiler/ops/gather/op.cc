// Resolves Gather; see op.h.
#include "compiler/ops/gather/op.h"

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> gather_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
bool indices_in_range(ResolveContext& context, std::int64_t size) {
  if (size == 0 && element_count(context.shape(1)) > 0) {
    context.error(DiagKind::kShape, "the axis is empty, there is nothing to pick");
    return false;
  }
  const Tensor* indices = context.constant(1);
  if (indices == nullptr) return true;
  for (const std::int64_t index : indices->integers()) {
    if (index >= -size && index < size) continue;
    context.input_error(DiagKind::kShape, 1, "indices",
                        cat("must be in [", -size, ", ", size - 1, "], got ", index));
    return false;
  }
  return true;
}

void resolve_gather(ResolveContext& context) {
  const Shape& from = context.shape(0);
  if (!check_dtype(context, 1, "indices", {DType::kS32, DType::kS64})) return;
  const auto axis = axis_attr(context, "axis", 0, rank_of(from));
  if (!axis || !indices_in_range(context, from[as_index(*axis)])) return;
  const Shape before(from.begin(), from.begin() + *axis);
  const Shape after(from.begin() + *axis + 1, from.end());
  Shape shape = before;
  shape.insert(shape.end(), context.shape(1).begin(), context.shape(1).end());
  shape.insert(shape.end(), after.begin(), after.end());
  context.set_output(0, context.dtype(0), shape);
  if (context.failed()) return;
  if (context.constant(1) != nullptr && !context.may_list_positions(from)) return;
  context.set_params(Gather{as_index(*axis), element_count(before), from[as_index(*axis)],
                            element_count(after), shape});
}

constexpr OpName kGatherNames[] = {{kOnnx, "Gather", 1}};
}  // namespace

void lower_gather(Lowering& lowering, const Node& node);

extern const OpDef kOp_gather = {.folder = "gather",
                                 .names = kGatherNames,
                                 .arity = {.min_inputs = 2, .max_inputs = 2},
                                 .resolve = resolve_gather,
                                 .reference = gather_reference,
                                 .lower = lower_gather,
                                 .elements = moved_rule};

}  // namespace etch
