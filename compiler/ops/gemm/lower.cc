// Lowering of Gemm to float product steps.
#include "compiler/kernels/products/float_products.h"
#include "compiler/ops/gemm/op.h"

namespace etch {

void lower_gemm(Lowering& lowering, const Node& node) {
  const auto& params = params_of<GemmParams>(node);
  add_float_gemm(lowering, node, params.geometry, {params.alpha, params.beta});
}

}  // namespace etch
