// Lowering of AveragePool.
#include "compiler/kernels/pool/float_pooling.h"
#include "compiler/ops/average_pool/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_average_pool(Lowering& lowering, const Node& node) {
  const auto& params = params_of<AveragePool>(node);
  const bool counted = params.count_padding == CountPadding::kYes;
  add_float_average_pool(lowering, node, params.geometry,
                         counted ? PoolDivisor::kElementsAndPadding : PoolDivisor::kElements);
}

}  // namespace etch
