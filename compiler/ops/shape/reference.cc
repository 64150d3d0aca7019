// Shape; see op.h. The input's elements do not matter, so it may be null.
#include "compiler/ops/op.h"
#include "compiler/ops/shape/op.h"

namespace etch {

std::vector<Tensor> shape_reference(const Node& node, std::span<const Tensor* const>) {
  const Shape& sizes = params_of<ShapeOf>(node).sizes;
  return {Tensor::of<std::int64_t>({static_cast<std::int64_t>(sizes.size())}, sizes)};
}

}  // namespace etch
