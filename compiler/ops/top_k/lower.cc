// Lowering of TopK.
#include "compiler/kernels/select/top_k.h"
#include "compiler/ops/op.h"
#include "compiler/ops/top_k/op.h"

namespace etch {

void lower_top_k(Lowering& lowering, const Node& node) {
  const auto& params = params_of<TopK>(node);
  const std::int64_t k = params.shape[as_index(params.axis)];
  add_top_k(lowering, node, params.kind == TopK::Kind::kLargest, params.axis, k);
}

}  // namespace etch
