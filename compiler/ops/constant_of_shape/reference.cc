// ConstantOfShape; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/constant_of_shape/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> constant_of_shape_reference(const Node& node, std::span<const Tensor* const>) {
  const auto& params = params_of<ConstantOfShape>(node);
  const StridedView everywhere{0, std::vector<std::int64_t>(params.shape.size(), 0)};
  return {copy_of(params.value, params.shape, everywhere)};
}

}  // namespace etch
