// Resolves Expand; see op.h.
#include "compiler/ops/expand/op.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
void resolve_expand(ResolveContext& context) {
  const auto sizes = constant_ints(context, 1, "shape");
  if (!sizes) return;
  const bool negative =
      std::any_of(sizes->begin(), sizes->end(), [](auto size) { return size < 0; });
  const auto to = negative ? std::nullopt : broadcast_shape(context.shape(0), *sizes);
  if (!to) {
    context.input_error(
        DiagKind::kShape, 1, "shape",
        cat("must broadcast with ", to_string(context.shape(0)), ", got ", to_string(*sizes)));
    return;
  }
  context.set_output(0, context.dtype(0), *to);
  context.set_params(StridedCopy{*to, broadcast_view(context.shape(0), *to)});
}

constexpr OpName kExpandNames[] = {{kOnnx, "Expand", 8}};
}  // namespace

void lower_expand(Lowering& lowering, const Node& node);

extern const OpDef kOp_expand = {.folder = "expand",
                                 .names = kExpandNames,
                                 .arity = {.min_inputs = 2, .max_inputs = 2},
                                 .resolve = resolve_expand,
                                 .reference = strided_copy,
                                 .lower = lower_expand,
                                 .elements = moved_rule};

}  // namespace etch
