// Resolves Unsqueeze; see op.h.
#include "compiler/ops/unsqueeze/op.h"

#include <algorithm>

#include "compiler/kernels/move/relabel.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
void resolve_unsqueeze(ResolveContext& context) {
  const Shape& from = context.shape(0);
  const auto given = ints_argument(context, 1, "axes", 13);
  if (!given) return;
  if (!*given) {
    context.error(DiagKind::kAttr, "axes is missing");
    return;
  }
  const std::int64_t rank = rank_of(from) + static_cast<std::int64_t>((*given)->size());
  const auto axes = normal_axes(context, **given, rank);
  if (!axes) return;
  Shape to;
  std::size_t next = 0;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool inserted = std::binary_search(axes->begin(), axes->end(), i);
    to.push_back(inserted ? 1 : from[next++]);
  }
  context.set_params(Relabel{to});
  context.set_output(0, context.dtype(0), to);
}

constexpr OpName kUnsqueezeNames[] = {{kOnnx, "Unsqueeze", 1}};
}  // namespace

extern const OpDef kOp_unsqueeze = {.folder = "unsqueeze",
                                    .names = kUnsqueezeNames,
                                    .arity = {.min_inputs = 1, .max_inputs = 2},
                                    .resolve = resolve_unsqueeze,
                                    .reference = relabel,
                                    .lower = lower_relabel,
                                    .elements = moved_rule,
                                    .layout = relabel_rule};

}  // namespace etch
