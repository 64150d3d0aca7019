// QLinearConvTranspose by its definition; see op.h. The arithmetic per output element is
// QLinearConv's, and which inputs meet there is ConvGeometry's direction.
#include "compiler/ops/qlinear_conv_transpose/op.h"

namespace etch {

std::vector<Tensor> reference_qlinear_conv_transpose(const Node& node,
                                                     std::span<const Tensor* const> inputs) {
  return reference_qlinear_conv(node, inputs);
}

}  // namespace etch
