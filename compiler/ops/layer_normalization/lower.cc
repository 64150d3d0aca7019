// Lowering of LayerNormalization: rows of the trailing axes.
#include "compiler/kernels/rows/normalize.h"
#include "compiler/ops/layer_normalization/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_layer_normalization(Lowering& lowering, const Node& node) {
  const auto& params = params_of<LayerNormalization>(node);
  add_row_normalization(lowering, node, {params.rows, params.size, 1}, params.epsilon);
}

}  // namespace etch
