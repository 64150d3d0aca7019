// Resolves GatherElements; see op.h.
#include "compiler/ops/gather_elements/op.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> gather_elements_reference(const Node& node,
                                              std::span<const Tensor* const> inputs);
void lower_gather_elements(Lowering& lowering, const Node& node);

namespace {

bool shapes_fit(ResolveContext& context, std::size_t axis) {
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  bool fits = data.size() == indices.size();
  for (std::size_t d = 0; fits && d < data.size(); ++d)
    fits = d == axis ? data[d] > 0 || indices[d] == 0 : indices[d] <= data[d];
  if (!fits) {
    context.error(DiagKind::kShape, cat("indices of shape ", to_string(indices),
                                        " do not fit data of shape ", to_string(data)));
  }
  return fits;
}

bool elements_in_range(ResolveContext& context, std::int64_t size) {
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

void resolve_gather_elements(ResolveContext& context) {
  if (!check_dtype(context, 1, "indices", {DType::kS32, DType::kS64})) return;
  const auto axis = axis_attr(context, "axis", 0, rank_of(context.shape(0)));
  if (!axis || !shapes_fit(context, as_index(*axis))) return;
  const std::int64_t size = context.shape(0)[as_index(*axis)];
  if (!elements_in_range(context, size)) return;
  context.set_output(0, context.dtype(0), context.shape(1));
  context.set_params(GatherElements{as_index(*axis), size, context.shape(1)});
}

constexpr OpName kGatherElementsNames[] = {{kOnnx, "GatherElements", 11}};
}  // namespace

extern const OpDef kOp_gather_elements = {.folder = "gather_elements",
                                          .names = kGatherElementsNames,
                                          .arity = {.min_inputs = 2, .max_inputs = 2},
                                          .resolve = resolve_gather_elements,
                                          .reference = gather_elements_reference,
                                          .lower = lower_gather_elements,
                                          .elements = moved_rule};

}  // namespace etch
