// Lowering of Transpose: the same memory seen with permuted dimensions.
#include "compiler/kernels/move/relabel.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_transpose(Lowering& lowering, const Node& node) {
  std::vector<int> perm;
  if (const auto it = node.attributes.find("perm"); it != node.attributes.end()) {
    for (const std::int64_t axis : std::get<std::vector<std::int64_t>>(it->second))
      perm.push_back(static_cast<int>(axis));
  } else {
    for (int axis = lowering.view(node, 0).rank(); axis-- > 0;) perm.push_back(axis);
  }
  lower_transposed(lowering, node, perm);
}

}  // namespace etch
