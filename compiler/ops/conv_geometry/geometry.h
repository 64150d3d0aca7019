// Shape rules that all convolutions share: attributes, defaults, automatic padding and implicit
// sizes of one node become explicit numbers per spatial axis (docs/spec/shapes.md sections 4.1 to
// 4.3). Serves Conv, ConvInteger, QLinearConv and, transposed, ConvTranspose and
// QLinearConvTranspose, in one to three spatial dimensions.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/ops/op.h"

namespace etch {

// Consumes kernel_shape, strides, dilations, group, auto_pad and pads (transposed: also
// output_padding and output_shape) of a node whose x and w are inputs `x` and `w`. Reports
// E-ATTR, E-SHAPE, E-LIMIT (output too large) or E-UNSUPPORTED (more than 3 spatial axes) and
// returns nothing when the node is wrong.
struct ConvInputs {
  int x = 0;
  int w = 1;
};
std::optional<ConvGeometry> resolve_conv_geometry(ResolveContext& context, ConvDirection direction,
                                                  ConvLayout layout, ConvInputs inputs);

// Checks an optional bias input: [M] (E-SHAPE) of `type` (E-TYPE).
void check_conv_bias(ResolveContext& context, int input, DType type, std::int64_t channels);

}  // namespace etch
