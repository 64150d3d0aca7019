// Lowering of GlobalAveragePool and GlobalMaxPool: a reduction over the spatial axes.
#include <vector>

#include "compiler/kernels/reduce/reduction.h"
#include "compiler/ops/global_pool/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_global_pool(Lowering& lowering, const Node& node) {
  const auto& params = params_of<GlobalPool>(node);
  std::vector<bool> reduced(params.shape.size(), true);
  reduced[0] = reduced[1] = false;
  add_reduction(
      lowering, node,
      params.kind == GlobalPool::Kind::kAverage ? ReducePlan::Kind::kMean : ReducePlan::Kind::kMax,
      reduced, /*in_order=*/true);
}

}  // namespace etch
