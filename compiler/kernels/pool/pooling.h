// Steps for pooling windows (templates/kernels/pool/pool.h); shared by the pooling operators.
#pragma once

#include <memory>

#include "compiler/ir/geometry/pooling.h"
#include "compiler/kernels/rows/elementwise.h"
#include "compiler/lower/lowering.h"

namespace etch {

enum class Divisor { kTapsInImage, kWholeKernel };

// Lowers a windowed pooling node: views, regions, naming. `plan` holds the arithmetic. Refuses
// windows with more taps than one function may hold.
void add_pooling(Lowering& lowering, const Node& node, const PoolGeometry& geometry, PoolPlan plan,
                 Divisor divisor);

// Lowers an average over all spatial positions of input 0.
void add_global_average(Lowering& lowering, const Node& node, ConvLayout layout, PoolPlan plan);

}  // namespace etch
