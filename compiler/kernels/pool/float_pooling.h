// MaxPool and AveragePool of float32 with the runtime's plain loops.
#pragma once

#include "compiler/ir/geometry/pooling.h"
#include "compiler/lower/lowering.h"

namespace etch {

void add_float_max_pool(Lowering& lowering, const Node& node, const PoolGeometry& geometry);

enum class PoolDivisor { kElements, kElementsAndPadding };
void add_float_average_pool(Lowering& lowering, const Node& node, const PoolGeometry& geometry,
                            PoolDivisor divisor);

}  // namespace etch
