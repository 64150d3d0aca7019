// Lowering of MaxPool: integers keep their order under a positive scale; floats as they are.
#include "compiler/kernels/pool/float_pooling.h"
#include "compiler/kernels/pool/pooling.h"
#include "compiler/kernels/rows/word_sums.h"
#include "compiler/ops/max_pool/op.h"

namespace etch {

void lower_max_pool(Lowering& lowering, const Node& node) {
  if (node.domain == kEtch) {
    add_word_pool(lowering, node, params_of<MaxPool>(node).geometry, {}, {});
    return;
  }
  if (!is_8bit(*lowering.value(node.inputs[0]).dtype)) {
    add_float_max_pool(lowering, node, params_of<MaxPool>(node).geometry);
    return;
  }
  add_pooling(lowering, node, params_of<MaxPool>(node).geometry, {}, Divisor::kTapsInImage);
}

}  // namespace etch
