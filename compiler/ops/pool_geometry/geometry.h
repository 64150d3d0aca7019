// Shape rules that all pooling operators share: attributes, defaults and automatic padding of one
// node become explicit numbers per spatial axis.
//   sizes      out = floor((in + pads - ke) / stride) + 1 with ke = (kernel - 1) * dilation + 1;
//   with
//              ceil_mode the quotient is rounded up, but no window starts behind the image
//   SAME_*     out = ceil(in / stride), padding as for convolutions (specification section 1.4)
// Windows are clipped to the image: a position outside it does not exist.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ops/conv_geometry/geometry.h"
#include "compiler/ops/op.h"

namespace etch {

// x [N, C, in...], y [N, C, out...]; channels last: [N, in..., C] and [N, out..., C].
struct PoolGeometry {
  ConvLayout layout = ConvLayout::kChannelsFirst;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::vector<ConvAxis> axes;  // outermost first, 1 to 3; each pad is < kernel

  Shape output_shape() const;
};

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
