// Constant; see op.h.
#include "compiler/ops/constant/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> constant_reference(const Node& node, std::span<const Tensor* const>) {
  return {params_of<Constant>(node).value};
}

}  // namespace etch
