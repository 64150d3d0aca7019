// Lowering of MatMul to float product steps.
#include "compiler/kernels/products/float_products.h"
#include "compiler/ops/matmul/op.h"

namespace etch {

void lower_matmul(Lowering& lowering, const Node& node) {
  add_float_matmul(lowering, node, params_of<MatMulParams>(node).geometry);
}

}  // namespace etch
