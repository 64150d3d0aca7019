// Lowering of QLinearGlobalAveragePool.
#include "compiler/ops/qlinear_average_pool/lower.h"

#include "compiler/ops/qlinear_global_average_pool/op.h"

namespace etch {

LayoutRule qlinear_global_average_pool_layout(const Node& node) {
  const bool first = params_of<QLinearGlobalAveragePool>(node).layout == ConvLayout::kChannelsFirst;
  return first ? LayoutRule::kChannelsLast : LayoutRule::kRowMajor;
}

void lower_qlinear_global_average_pool(Lowering& lowering, const Node& node) {
  lower_global_average(lowering, node, params_of<QLinearGlobalAveragePool>(node));
}

}  // namespace etch
