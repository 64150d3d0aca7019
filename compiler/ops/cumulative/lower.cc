// Lowering of CumSum and CumProd.
#include "compiler/kernels/select/scatter.h"
#include "compiler/ops/cumulative/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_cumulative(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Cumulative>(node);
  add_scan(lowering, node, params.axis, params.multiplies, params.exclusive, params.reverse);
}

}  // namespace etch
