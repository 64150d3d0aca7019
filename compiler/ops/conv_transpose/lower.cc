// Lowering of ConvTranspose to float convolution steps.
#include "compiler/ops/conv_transpose/op.h"
#include "compiler/steps/float_products.h"

namespace etch {

void lower_conv_transpose(Lowering& lowering, const Node& node) {
  add_float_conv(lowering, node, params_of<ConvTransposeParams>(node).geometry);
}

}  // namespace etch
