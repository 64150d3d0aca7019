// Resolves Flatten; see op.h.
#include "compiler/ops/flatten/op.h"

#include "compiler/base/text.h"
#include "compiler/kernels/move/relabel.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
void resolve_flatten(ResolveContext& context) {
  const Shape& from = context.shape(0);
  const std::int64_t rank = rank_of(from);
  const std::int64_t least = context.opset() >= 11 ? -rank : 0;
  const std::int64_t axis = context.int_attr("axis", 1);
  if (axis < least || axis > rank) {
    context.attr_error("axis", cat("must be in [", least, ", ", rank, "], got ", axis));
    return;
  }
  const auto middle = from.begin() + (axis < 0 ? axis + rank : axis);
  const Shape to = {element_count(Shape(from.begin(), middle)),
                    element_count(Shape(middle, from.end()))};
  context.set_params(Relabel{to});
  context.set_output(0, context.dtype(0), to);
}

constexpr OpName kFlattenNames[] = {{kOnnx, "Flatten", 1}};
}  // namespace

extern const OpDef kOp_flatten = {.folder = "flatten",
                                  .names = kFlattenNames,
                                  .arity = {.min_inputs = 1, .max_inputs = 1},
                                  .resolve = resolve_flatten,
                                  .reference = relabel,
                                  .lower = lower_relabel,
                                  .elements = moved_rule,
                                  .layout = relabel_rule};

}  // namespace etch
