// The lowering that QLinearAveragePool shares with QLinearGlobalAveragePool.
#pragma once

#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_global_average_pool/op.h"

namespace etch {

void lower_global_average(Lowering& lowering, const Node& node,
                          const QLinearGlobalAveragePool& params);

}  // namespace etch
