// Resolves Shape; see op.h.
#include "compiler/ops/shape/op.h"

#include <algorithm>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> shape_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
std::int64_t clamped(std::int64_t position, std::int64_t rank) {
  position = std::clamp(position, -rank, rank);
  return position < 0 ? position + rank : position;
}

void resolve_shape(ResolveContext& context) {
  const Shape& from = context.shape(0);
  const std::int64_t rank = rank_of(from);
  const bool has_range = context.opset() >= 15;
  const std::int64_t start = clamped(has_range ? context.int_attr("start", 0) : 0, rank);
  const std::int64_t end = clamped(has_range ? context.int_attr("end", rank) : rank, rank);
  const Shape sizes(from.begin() + start, from.begin() + std::max(start, end));
  context.set_output(0, DType::kS64, {rank_of(sizes)});
  context.set_params(ShapeOf{sizes});
}

constexpr OpName kShapeNames[] = {{kOnnx, "Shape", 1}};
}  // namespace

extern const OpDef kOp_shape = {.folder = "shape",
                                .names = kShapeNames,
                                .arity = {.min_inputs = 1, .max_inputs = 1},
                                .resolve = resolve_shape,
                                .reference = shape_reference,
                                .needs_shapes_only = true};

}  // namespace etch
