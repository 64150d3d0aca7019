// Lowering of Conv to float convolution steps.
#include "compiler/kernels/products/float_products.h"
#include "compiler/ops/conv/op.h"

namespace etch {

void lower_conv(Lowering& lowering, const Node& node) {
  const auto& params = params_of<ConvParams>(node);
  add_float_conv(lowering, node, params.geometry, {params.relu, params.most});
}

}  // namespace etch
