// Lowering of MaxPool on 8-bit values: a positive scale keeps their order.
#include "compiler/ops/max_pool/op.h"
#include "compiler/steps/pooling.h"

namespace etch {

void lower_max_pool(Lowering& lowering, const Node& node) {
  if (!is_8bit(*lowering.value(node.inputs[0]).dtype)) {
    lowering.unsupported(node, "maximum pooling of floats cannot be compiled yet");
    return;
  }
  add_pooling(lowering, node, params_of<MaxPool>(node).geometry, {}, Divisor::kTapsInImage);
}

}  // namespace etch
