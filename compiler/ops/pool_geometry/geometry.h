// Shape rules that all pooling operators share: attributes, defaults and automatic padding of one
// node become explicit numbers per spatial axis.
//   sizes      out = floor((in + pads - ke) / stride) + 1 with ke = (kernel - 1) * dilation + 1;
//   with
//              ceil_mode the quotient is rounded up, but no window starts after the image
//   SAME_*     out = ceil(in / stride), padding as for convolutions
//              (docs/spec/shapes.md section 4.4)
// Windows are clipped to the image: a position outside it does not exist.
#pragma once

#include <optional>

#include "compiler/ir/geometry/pooling.h"
#include "compiler/ops/op.h"

namespace etch {

// Consumes kernel_shape (required), strides, pads, auto_pad; ceil_mode when `has_ceil_mode`;
// dilations when `has_dilations`. x is input 0. Reports E-ATTR, E-SHAPE or E-UNSUPPORTED and
// returns nothing when the node is wrong.
struct PoolFeatures {
  bool ceil_mode = false;
  bool dilations = false;
};
std::optional<PoolGeometry> resolve_pool_geometry(ResolveContext& context, ConvLayout layout,
                                                  PoolFeatures features);

}  // namespace etch
