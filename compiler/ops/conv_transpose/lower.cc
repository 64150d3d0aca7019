// Lowering of ConvTranspose to float convolution steps.
#include "compiler/kernels/products/float_products.h"
#include "compiler/ops/conv_transpose/op.h"

namespace etch {

void lower_conv_transpose(Lowering& lowering, const Node& node) {
  add_float_conv(lowering, node, params_of<ConvTransposeParams>(node).geometry);
}

}  // namespace etch
