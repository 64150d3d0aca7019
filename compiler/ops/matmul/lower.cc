// Lowering of MatMul to float product steps.
#include "compiler/ops/matmul/op.h"
#include "compiler/steps/float_products.h"

namespace etch {

void lower_matmul(Lowering& lowering, const Node& node) {
  add_float_matmul(lowering, node, params_of<MatMulParams>(node).geometry);
}

}  // namespace etch
