// Resolves Squeeze; see op.h.
#include "compiler/ops/squeeze/op.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/kernels/move/relabel.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
std::vector<std::int64_t> axes_of_size_one(const Shape& shape) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

void resolve_squeeze(ResolveContext& context) {
  const Shape& from = context.shape(0);
  const auto given = ints_argument(context, 1, "axes", 13);
  if (!given) return;
  const auto axes = normal_axes(context, *given ? **given : axes_of_size_one(from), rank_of(from));
  if (!axes) return;
  Shape to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool dropped =
        std::binary_search(axes->begin(), axes->end(), static_cast<std::int64_t>(i));
    if (!dropped) to.push_back(from[i]);
    if (dropped && from[i] != 1) {
      context.error(DiagKind::kShape, cat("axis ", i, " must have size 1, got ", to_string(from)));
      return;
    }
  }
  context.set_params(Relabel{to});
  context.set_output(0, context.dtype(0), to);
}

constexpr OpName kSqueezeNames[] = {{kOnnx, "Squeeze", 1}};
}  // namespace

extern const OpDef kOp_squeeze = {.folder = "squeeze",
                                  .names = kSqueezeNames,
                                  .arity = {.min_inputs = 1, .max_inputs = 2},
                                  .resolve = resolve_squeeze,
                                  .reference = relabel,
                                  .lower = lower_relabel,
                                  .elements = moved_rule,
                                  .layout = relabel_rule};

}  // namespace etch
